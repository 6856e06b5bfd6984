//! The resources of the machine that a run may use.

use simtool_base::error::{Error, Result};
use simtool_base::options::Options;
use simtool_base::quantity::{BYTES_EXPECTED, parse_bytes};
use simtool_kernels::Isa;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;

/// The resources of the machine that a run of the program may use. None of them changes the result.
#[derive(Clone, Debug)]
pub struct Resources {
    /// Number of worker threads, at least 1.
    pub threads: usize,
    /// Memory limit in bytes. Mapped files do not count. With a lower limit, input is read more often
    /// or more data goes to temporary files.
    pub memory: u64,
    /// Folder for temporary files.
    pub temporary_folder: PathBuf,
    /// Instruction set that the hot loops use, for example AVX2.
    pub isa: Isa,
}

impl Default for Resources {
    /// Returns the resources that a run uses by default: all cores, four fifths of the memory, the temporary folder of
    /// the system, and the best instruction set of the processor.
    fn default() -> Self {
        Self {
            threads: available_parallelism().map_or(1, usize::from),
            memory: default_memory(),
            temporary_folder: std::env::temp_dir(),
            isa: Isa::detected(),
        }
    }
}

/// Minimum number of bytes for the option `max_memory` if its value has no unit. With a smaller value, the user most
/// likely forgot the unit.
const LEAST_WITHOUT_UNIT: u64 = 1_000_000;
/// Smallest memory limit in bytes that the program can keep. The program itself and its buffers need about this much.
const LEAST_KEPT: u64 = 30_000_000;
/// [`LEAST_KEPT`] as users write it, for messages.
const USEFUL: &str = "30M";
/// Largest value of the option `threads`. A larger value is an error.
const MOST_THREADS: usize = 512;

impl Resources {
    /// Removes the options `threads`, `max_memory` and `tmp_dir` from `options` and parses their values. For `threads`,
    /// 0 means all cores. A missing option has its [default](Self::default).
    ///
    /// # Errors
    ///
    /// A value is out of its range.
    pub fn parse(options: &mut Options) -> Result<Self> {
        let mut resources = Self::default();
        let rule = "must be a whole number up to 512; 0 takes all cores";
        match options.take_parsed("threads", rule)? {
            None | Some(0) => {}
            Some(threads) if threads <= MOST_THREADS => resources.threads = threads,
            Some(threads) => return Err(Error::config("threads", threads, rule)),
        }
        if let Some(given) = options.take("max_memory") {
            let memory =
                parse_memory(&given).map_err(|rule| Error::config("max_memory", &given, rule))?;
            // The process cannot use more memory than it can address, whatever the user allows.
            resources.memory = memory.min(addressable_memory().unwrap_or(u64::MAX));
        }
        if let Some(folder) = options.take_path("tmp_dir") {
            resources.temporary_folder = folder;
        }
        Ok(resources)
    }
}

/// Returns a note if the user limits the memory to less than the program can keep. `given` is the value of the option
/// `max_memory`, for example `5M`. Returns `None` if the limit can be kept. Also returns `None` if the value is wrong,
/// because [`Resources::parse`] reports that.
///
/// ```
/// use simtool_compute::resources::note_small_memory;
///
/// assert!(note_small_memory("5M").is_some_and(|note| note.starts_with("`max_memory` 5M is not kept")));
/// assert_eq!(note_small_memory("30M"), None);
/// ```
#[must_use]
pub fn note_small_memory(given: &str) -> Option<String> {
    let limit = parse_memory(given).ok()?;
    (limit < LEAST_KEPT).then(|| {
        format!(
            "`max_memory` {given} is not kept: the program itself and the buffers of its readers need about {USEFUL}. \
             The limit holds for tables, terms and pairs"
        )
    })
}

/// Parses a memory limit, for example `2G`, as a number of bytes. The error is a phrase that describes the expected
/// value.
fn parse_memory(given: &str) -> std::result::Result<u64, String> {
    let bytes = parse_bytes(given).ok_or(BYTES_EXPECTED)?;
    let has_no_unit = given.bytes().all(|byte| byte.is_ascii_digit());
    // A user who types 2 most likely means gigabytes. Tests of little memory name the unit.
    if has_no_unit && bytes < LEAST_WITHOUT_UNIT {
        return Err(format!(
            "is {bytes} bytes, because the number has no unit: write {bytes}G for gigabytes or {bytes}M for megabytes; \
             the smallest useful size is about {USEFUL}, which the program itself needs"
        ));
    }
    Ok(bytes)
}

/// Returns four fifths of the memory of the machine in bytes. If the control group of the process has a lower limit,
/// returns four fifths of that limit. Returns `u64::MAX` if the system does not report its memory.
#[must_use]
pub fn default_memory() -> u64 {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| machine_memory(&text));
    let own_group = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limits = group_limits(Path::new("/sys/fs/cgroup"), &own_group);
    // The groups that contain this group limit the process, too, so the smallest limit counts.
    let least = limits.into_iter().chain(machine).min();
    let memory = least.map_or(u64::MAX, |bytes| bytes / 5 * 4);
    memory.min(addressable_memory().unwrap_or(u64::MAX))
}

/// Returns half of the address space, in bytes, that the process may still use. The other half is for threads, and for
/// memory that is reserved but never used. Returns `None` if the address space is not limited, for example by `ulimit
/// -v` on a cluster.
#[must_use]
pub fn addressable_memory() -> Option<u64> {
    let limit = address_limit(&fs::read_to_string("/proc/self/limits").ok()?)?;
    let status = fs::read_to_string("/proc/self/status").ok()?;
    Some(limit.saturating_sub(kibibytes(&status, "VmSize:")?) / 2)
}

/// Returns the limit of the address space in bytes, from `table`, the text of `/proc/self/limits`. Returns `None`
/// without a limit.
fn address_limit(table: &str) -> Option<u64> {
    let line = table.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Returns the size in bytes of the line that begins with `name` in `status`, the text of `/proc/self/status`. For
/// example, `VmHWM: 2 kB` gives 2048.
fn kibibytes(status: &str, name: &str) -> Option<u64> {
    let size = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = size.strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1 << 10)
}

/// Returns the largest number of bytes of memory that this process has used so far. Mapped files are included. Returns
/// `None` if the system does not report the number.
#[must_use]
pub fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    kibibytes(&status, "VmHWM:")
}

/// Returns the memory of the machine in bytes, from `table`, the text of `/proc/meminfo`.
fn machine_memory(table: &str) -> Option<u64> {
    let line = table.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1 << 10)
}

/// Returns the memory limits in bytes of the control group of the process, and of all groups that contain this group.
/// Supports both versions of control groups. `root` is the folder with all groups, and `own` is the text of
/// `/proc/self/cgroup`.
fn group_limits(root: &Path, own: &str) -> Vec<u64> {
    let mut limits = Vec::new();
    for line in own.lines() {
        // A line is `hierarchy:kinds:group`. Version 2 names no kinds, and a group can contain
        // colons.
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(kinds), Some(group)) = (parts.next(), parts.next()) else { continue };
        let (folder, file) = match kinds {
            "" => (root.to_owned(), "memory.max"),
            kinds if kinds.split(',').any(|kind| kind == "memory") => {
                (root.join("memory"), "memory.limit_in_bytes")
            }
            _ => continue,
        };
        for group in Path::new(group.trim_start_matches('/')).ancestors() {
            let limit = fs::read_to_string(folder.join(group).join(file)).ok();
            // A group without a limit has "max".
            limits.extend(limit.and_then(|limit| limit.trim().parse::<u64>().ok()));
        }
    }
    limits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_space_may_have_a_limit() {
        let table = |limit: &str| {
            format!(
                "Limit                     Soft Limit           Hard Limit           Units\nMax processes             95  95  processes\nMax address space         {limit}            unlimited            bytes\n"
            )
        };
        assert_eq!(address_limit(&table("409600000")), Some(409_600_000));
        assert_eq!(address_limit(&table("unlimited")), None);
        assert_eq!(address_limit(""), None);
        assert_eq!(kibibytes("Name:\tx\nVmSize:\t  2048 kB\n", "VmSize:"), Some(2 << 20));
    }

    #[test]
    fn a_small_limit_needs_its_unit() {
        let parse = |given: &str| Resources::parse(&mut Options::parse(given).unwrap());
        let error = parse("max_memory=2").unwrap_err().to_string();
        let expected = "max_memory 2: is 2 bytes, because the number has no unit: write 2G for gigabytes or 2M for \
                        megabytes; the smallest useful size is about 30M, which the program itself needs";
        assert_eq!(error, expected);
        assert!(parse("max_memory=999999").is_err());
        for (given, expected) in [("1000000", 1_000_000), ("2B", 2), ("2G", 2_000_000_000)] {
            let resources = parse(&format!("max_memory={given}")).unwrap();
            assert_eq!(resources.memory, expected, "{given}");
        }
    }

    #[test]
    fn memory_is_what_the_machine_and_the_groups_allow() {
        assert_eq!(machine_memory("MemFree: 1 kB\nMemTotal:   24576 kB\n"), Some(24576 << 10));
        assert_eq!(machine_memory("MemTotal: much\n"), None);
        let folder = tempfile::tempdir().unwrap();
        let group = folder.path().join("a/b");
        fs::create_dir_all(&group).unwrap();
        fs::write(group.join("memory.max"), "max\n").unwrap();
        fs::write(folder.path().join("a/memory.max"), "1000\n").unwrap();
        fs::create_dir_all(folder.path().join("memory/c")).unwrap();
        fs::write(folder.path().join("memory/c/memory.limit_in_bytes"), "500\n").unwrap();
        assert_eq!(group_limits(folder.path(), "0::/a/b\n"), [1000]);
        assert_eq!(group_limits(folder.path(), "4:cpu:/c\n7:memory,x:/c\n"), [500]);
        assert!(group_limits(folder.path(), "").is_empty());
        let resources = Resources::default();
        assert!(resources.threads > 0 && resources.memory > 0);
    }
}
