//! The value of a field that decides which of two documents is kept.

use std::cmp::Ordering;

/// A field's value as it compares: numbers by value, other values by their bytes, numbers before
/// other values, and a missing value after everything.
///
/// What reads as a number is one in every format, also where the format has only text (CSV).
#[derive(Clone, Debug, PartialEq)]
pub enum FieldValue {
    /// A whole number.
    Integer(i64),
    /// Another finite number.
    Decimal(f64),
    /// Anything else.
    Text(Box<[u8]>),
    /// The document has no such field.
    Missing,
}

impl FieldValue {
    /// The value that was written as `bytes`, if any.
    #[must_use]
    pub fn parse(bytes: Option<&[u8]>) -> Self {
        let Some(bytes) = bytes else { return Self::Missing };
        // Rust's floats know words, such as "inf" and "nan", that are text here.
        let numeric = bytes.first().is_some_and(|b| b.is_ascii_digit() || b"+-.".contains(b))
            && bytes.iter().all(|b| b.is_ascii_digit() || b"+-.eE".contains(b));
        let number = str::from_utf8(bytes).ok().filter(|_| numeric);
        if let Some(integer) = number.and_then(|n| n.parse().ok()) {
            Self::Integer(integer)
        } else if let Some(decimal) =
            number.and_then(|n| n.parse().ok()).filter(|d: &f64| d.is_finite())
        {
            Self::Decimal(decimal)
        } else {
            Self::Text(bytes.into())
        }
    }

    /// The order of values, ascending; missing ones last.
    #[must_use]
    pub fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => a.cmp(b),
            (Self::Decimal(a), Self::Decimal(b)) => {
                // Equal zeros of either sign are one value; the parser makes no NaN.
                a.partial_cmp(b).unwrap_or(Ordering::Equal)
            }
            (Self::Integer(a), Self::Decimal(b)) => integer_to_decimal(*a, *b),
            (Self::Decimal(a), Self::Integer(b)) => integer_to_decimal(*b, *a).reverse(),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            _ => self.rank().cmp(&other.rank()),
        }
    }

    /// Bytes that compare as the values do; none are those of another with more behind them, and the first
    /// is not 0 and below 255 unless the value is missing.
    #[must_use]
    pub fn to_ordered_bytes(&self) -> Vec<u8> {
        match self {
            // What a float lacks of it decides between those that are near the same one.
            Self::Integer(number) => {
                let near = *number as f64;
                ordered_number(near, i128::from(*number) - near as i128)
            }
            // Zero has one sign.
            Self::Decimal(number) => ordered_number(number + 0.0, 0),
            Self::Text(text) => {
                let escaped = |&byte: &u8| if byte == 0 { vec![0, u8::MAX] } else { vec![byte] };
                let mut bytes = vec![2];
                bytes.extend(text.iter().flat_map(escaped));
                bytes.extend([0, 0]);
                bytes
            }
            Self::Missing => vec![u8::MAX],
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Integer(_) | Self::Decimal(_) => 0,
            Self::Text(_) => 1,
            Self::Missing => 2,
        }
    }
}

/// The bytes of a number by the float next to it and what that lacks of it, which is less than 2¹⁵.
fn ordered_number(near: f64, lacking: i128) -> Vec<u8> {
    let bits = near.to_bits();
    let ordered = if near.is_sign_negative() { !bits } else { bits | 1 << 63 };
    let lacking = lacking as i16 ^ i16::MIN;
    [&[1][..], &ordered.to_be_bytes(), &lacking.to_be_bytes()].concat()
}

/// Compares exactly: an integer may have more digits than a float can hold.
fn integer_to_decimal(integer: i64, decimal: f64) -> Ordering {
    let whole = decimal.floor();
    // Every whole float within ±2⁶³ is exactly some i128.
    if whole < -(2f64.powi(64)) {
        Ordering::Greater
    } else if whole > 2f64.powi(64) {
        Ordering::Less
    } else {
        i128::from(integer).cmp(&(whole as i128)).then(if decimal > whole {
            Ordering::Less
        } else {
            Ordering::Equal
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(ascending: &[Option<&str>]) {
        let values: Vec<_> =
            ascending.iter().map(|v| FieldValue::parse(v.map(str::as_bytes))).collect();
        for (i, a) in values.iter().enumerate() {
            for (j, b) in values.iter().enumerate() {
                assert_eq!(a.compare(b), i.cmp(&j), "{a:?} {b:?}");
                let [of_a, of_b] = [a, b].map(FieldValue::to_ordered_bytes);
                assert_eq!(of_a.cmp(&of_b), i.cmp(&j), "{a:?} {b:?}");
                assert!(i == j || !of_b.starts_with(&of_a), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn numbers_compare_by_value_before_text_before_nothing() {
        check(&[
            Some("-1e300"),
            Some("-9223372036854775808"),
            Some("-2.5"),
            Some("-2"),
            Some("9"),
            Some("9.5"),
            Some("10"),
            Some("9007199254740992.0"),
            Some("9007199254740993"),
            Some("9223372036854775806"),
            Some("9223372036854775807"),
            Some("9223372036854775808"),
            Some("1e19"),
            Some("1e999"),
            Some("2024-05-01"),
            Some("2024-05-02T10:00"),
            Some("inf"),
            Some("inf\0"),
            Some("inf\0a"),
            Some("info"),
            None,
        ]);
        let zeros = ["0", "-0.0", "0e3"].map(|zero| FieldValue::parse(Some(zero.as_bytes())));
        assert_eq!(zeros[0].to_ordered_bytes(), zeros[1].to_ordered_bytes());
        assert_eq!(zeros[0].to_ordered_bytes(), zeros[2].to_ordered_bytes());
    }
}
