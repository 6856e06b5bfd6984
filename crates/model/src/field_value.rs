//! Value of the field that decides which of several similar documents is kept.

use std::cmp::Ordering;

/// Value of a field. Values have a total order: first numbers by value, then other values by their bytes, then missing
/// values.
///
/// Text that can be parsed as a number counts as a number in every format, for example in CSV, in which every value is
/// text.
///
/// ```
/// use simtool_model::field_value::FieldValue;
///
/// let [nine, ten] = [&b"9"[..], b"10.0"].map(|text| FieldValue::parse(Some(text)));
/// assert!(nine.compare(&ten).is_lt());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum FieldValue {
    /// A whole number.
    Integer(i64),
    /// Any other number, such as `0.5`, `10.0`, `-inf`, or a whole number outside the range of `i64`. It is rounded to
    /// 53 bits, so two different large numbers may be equal.
    Decimal(f64),
    /// Any other value, as its bytes in the input.
    Text(Box<[u8]>),
    /// The document does not have the field.
    Missing,
}

impl FieldValue {
    /// Parses the bytes of a field. `None` means that the document lacks the field, and a blank value counts as
    /// missing, too. White space around a number is ignored. The words `nan`, `inf` and `infinity` are parsed as
    /// floating-point numbers, and `nan` counts as missing.
    #[must_use]
    pub fn parse(bytes: Option<&[u8]>) -> Self {
        let Some(bytes) = bytes else { return Self::Missing };
        let number = str::from_utf8(bytes).ok().map(str::trim);
        if number == Some("") {
            return Self::Missing;
        }
        if let Some(integer) = number.and_then(|n| n.parse().ok()) {
            return Self::Integer(integer);
        }
        match number.and_then(|n| n.parse::<f64>().ok()) {
            Some(decimal) if decimal.is_nan() => Self::Missing,
            Some(decimal) => Self::Decimal(decimal),
            None => Self::Text(bytes.into()),
        }
    }

    /// Compares two values like [`Self::compare`], but with the order of numbers and the order of texts reversed.
    /// Numbers still come before texts, and texts before missing values.
    #[must_use]
    pub fn compare_greatest_first(&self, other: &Self) -> Ordering {
        self.rank().cmp(&other.rank()).then_with(|| other.compare(self))
    }

    /// Compares two values. Numbers come before texts, and texts before missing values.
    #[must_use]
    pub fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => a.cmp(b),
            (Self::Decimal(a), Self::Decimal(b)) => {
                // Zeros of both signs are equal, and the parser creates no NaN.
                a.partial_cmp(b).unwrap_or(Ordering::Equal)
            }
            (Self::Integer(a), Self::Decimal(b)) => integer_to_decimal(*a, *b),
            (Self::Decimal(a), Self::Integer(b)) => integer_to_decimal(*b, *a).reverse(),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            _ => self.rank().cmp(&other.rank()),
        }
    }

    /// Encodes the value as bytes. The bytes of two values compare like the values, and the bytes of a value are never
    /// a prefix of the bytes of another value. The first byte is from 1 to 254, or 255 for a missing value.
    #[must_use]
    pub fn to_ordered_bytes(&self) -> Vec<u8> {
        match self {
            // Large integers may have the same nearest float. Then their difference from it
            // decides.
            Self::Integer(number) => {
                let near = *number as f64;
                ordered_number(near, i128::from(*number) - near as i128)
            }
            // Adding 0 turns a negative zero into a positive one.
            Self::Decimal(number) => ordered_number(number + 0.0, 0),
            Self::Text(text) => {
                // Two zero bytes end a text, and a zero byte inside it is followed by 255. So a
                // text sorts before every longer text that begins with it, and its bytes are never
                // a prefix of another text's bytes.
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

/// Encodes a number for [`FieldValue::to_ordered_bytes`]. `near` is the floating-point number that is nearest to it.
/// `lacking` is the number minus `near`, and its magnitude is below 2¹⁵.
fn ordered_number(near: f64, lacking: i128) -> Vec<u8> {
    let bits = near.to_bits();
    // The bits of floats of one sign are ordered by magnitude. For negative numbers all bits are
    // flipped, which reverses their order and puts them before the positive ones.
    let ordered = if near.is_sign_negative() { !bits } else { bits | 1 << 63 };
    let lacking = lacking as i16 ^ i16::MIN;
    [&[1][..], &ordered.to_be_bytes(), &lacking.to_be_bytes()].concat()
}

/// Compares an integer with a decimal number without rounding, because an integer may have more digits than a
/// floating-point number can store.
fn integer_to_decimal(integer: i64, decimal: f64) -> Ordering {
    let whole = decimal.floor();
    // Every whole float in this range is exactly an i128.
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
            Some("inc"),
            Some("inc\0"),
            Some("inc\0a"),
            Some("income"),
            None,
        ]);
        check(&[
            Some("-inf"),
            Some("-1e300"),
            Some("3"),
            Some("Infinity"),
            Some("n/a"),
            Some("NaN"),
        ]);
        let parse = |text: &str| FieldValue::parse(Some(text.as_bytes()));
        for text in [" 9", "9\t", " 9\r\n"] {
            assert_eq!(parse(text), FieldValue::Integer(9), "{text:?}");
        }
        assert_eq!(parse(" -0.5 "), FieldValue::Decimal(-0.5));
        assert_eq!(parse(" b"), FieldValue::Text((*b" b").into()));
        for blank in ["", " ", "\t\n"] {
            assert_eq!(parse(blank), FieldValue::Missing, "{blank:?}");
        }
        let mut values = ["n/a", "2", "nan", "10", "-inf", "b"].map(parse);
        values.sort_by(FieldValue::compare_greatest_first);
        assert_eq!(values, ["10", "2", "-inf", "n/a", "b", "nan"].map(parse));
        let zeros = ["0", "-0.0", "0e3"].map(|zero| FieldValue::parse(Some(zero.as_bytes())));
        assert_eq!(zeros[0].to_ordered_bytes(), zeros[1].to_ordered_bytes());
        assert_eq!(zeros[0].to_ordered_bytes(), zeros[2].to_ordered_bytes());
    }
}
