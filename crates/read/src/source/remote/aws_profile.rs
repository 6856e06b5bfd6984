//! Profiles of Amazon Web Services, which the library for stores does not read.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::PathBuf;

/// Settings of a profile. They are not printed, because they have a secret.
#[derive(Default)]
pub(super) struct Profile {
    pub(super) key: Option<String>,
    pub(super) secret: Option<String>,
    pub(super) token: Option<String>,
    pub(super) region: Option<String>,
    pub(super) endpoint: Option<String>,
}

/// Name of the profile that is used if none is named.
const USUAL: &str = "default";

/// Settings of profiles that get credentials from another place, which needs a program or a browser.
const UNSUPPORTED: [&str; 5] =
    ["sso_session", "sso_start_url", "credential_process", "role_arn", "login_session"];

impl Profile {
    /// Reads the profile that the variable `AWS_PROFILE` names, or the profile `default`. Leaves out settings that
    /// other environment variables set, because the variables go before the profile. `is_anonymous` means that requests
    /// need no credentials, so the credentials of the profile are left out, too.
    ///
    /// # Errors
    ///
    /// The profile does not exist, or its way to get credentials is not supported.
    pub(super) fn of_environment(is_anonymous: bool) -> Result<Self, String> {
        let given = env::var("AWS_PROFILE").ok().filter(|name| !name.is_empty());
        let file = |variable: &str, usual: &str| {
            let named = env::var_os(variable).map(PathBuf::from);
            let path = named.or_else(|| Some(env::home_dir()?.join(".aws").join(usual)));
            path.and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default()
        };
        let credentials = file("AWS_SHARED_CREDENTIALS_FILE", "credentials");
        let config = file("AWS_CONFIG_FILE", "config");
        let is_set = |names: &[&str]| names.iter().any(|name| env::var_os(name).is_some());
        let has_credentials = is_anonymous
            || is_set(&[
                "AWS_ACCESS_KEY_ID",
                "AWS_WEB_IDENTITY_TOKEN_FILE",
                "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
                "AWS_CONTAINER_CREDENTIALS_FULL_URI",
            ]);
        let mut profile = Self::parse(given.as_deref(), &credentials, &config, has_credentials)?;
        if is_set(&["AWS_REGION", "AWS_DEFAULT_REGION"]) {
            profile.region = None;
        }
        if is_set(&["AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT"]) {
            profile.endpoint = None;
        }
        Ok(profile)
    }

    /// Reads a profile from `credentials` and `config`, the texts of the two files with profiles. `given` is the name
    /// of the profile that the user gave. `has_credentials` means that other credentials are used, so those of the
    /// profile are left out.
    fn parse(
        given: Option<&str>,
        credentials: &str,
        config: &str,
        has_credentials: bool,
    ) -> Result<Self, String> {
        let name = given.unwrap_or(USUAL);
        let in_config = if name == USUAL { USUAL.to_owned() } else { format!("profile {name}") };
        let of_credentials = section(credentials, name);
        // A default profile may be called `profile default`, too.
        let of_config =
            section(config, &in_config).or_else(|| section(config, &format!("profile {name}")));
        if given.is_some() && of_credentials.is_none() && of_config.is_none() {
            return Err(format!(
                "AWS_PROFILE {name} is neither in ~/.aws/credentials nor in ~/.aws/config"
            ));
        }
        // If both files have a setting, that of the credentials counts, as in the tools of Amazon.
        let mut settings = of_config.unwrap_or_default();
        settings.extend(of_credentials.unwrap_or_default());
        let mut profile = Self {
            region: settings.remove("region"),
            endpoint: settings.remove("endpoint_url"),
            ..Self::default()
        };
        if has_credentials {
            return Ok(profile);
        }
        profile.key = settings.remove("aws_access_key_id");
        profile.secret = settings.remove("aws_secret_access_key");
        profile.token = settings.remove("aws_session_token");
        let unsupported = UNSUPPORTED.iter().find(|setting| settings.contains_key(**setting));
        match unsupported {
            // A role needs the keys of another profile, so the keys of this profile are not the ones to use.
            Some(setting) if profile.key.is_none() || *setting == "role_arn" => Err(format!(
                "the profile {name} has {setting}, which simtool does not support; set the credentials with eval \
                 \"$(aws configure export-credentials --profile {name} --format env)\""
            )),
            _ => Ok(profile),
        }
    }
}

/// Returns the settings below the heading `[name]` of a file with profiles. Indented lines are left out, because they
/// are settings within a setting.
fn section(text: &str, name: &str) -> Option<BTreeMap<String, String>> {
    let mut settings = None;
    let mut is_in = false;
    for line in text.lines() {
        let trimmed = line.trim();
        if let Some(heading) = trimmed.strip_prefix('[') {
            // Some files have a comment behind the heading, and several spaces in it.
            let heading = heading.split(']').next().unwrap_or_default();
            is_in = heading.split_whitespace().eq(name.split_whitespace());
            if is_in {
                settings.get_or_insert_with(BTreeMap::new);
            }
        } else if is_in
            && !trimmed.starts_with(['#', ';'])
            && !line.starts_with([' ', '\t'])
            && let Some((key, value)) = trimmed.split_once('=')
        {
            let value = value.trim().to_owned();
            settings.get_or_insert_with(BTreeMap::new).insert(key.trim().to_lowercase(), value);
        }
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::*;

    const CREDENTIALS: &str = "[default]\naws_access_key_id = A\naws_secret_access_key=B\n\n[x y]\n[work]\n\
                               # a comment = 1\naws_access_key_id=C\naws_secret_access_key=D=\naws_session_token = E\n";
    const CONFIG: &str = "[default]\nregion = eu-west-1\n[profile work]\nregion=us-west-2\nendpoint_url = http://h:9\n\
                          s3 =\n  region = none\n[profile company]\nsso_session = s\n[profile role]\nrole_arn = r\n";

    fn parsed(given: Option<&str>) -> Profile {
        Profile::parse(given, CREDENTIALS, CONFIG, false).unwrap()
    }

    #[test]
    fn both_files_of_profiles_are_read() {
        let usual = parsed(None);
        let text = |field: &Option<String>| field.clone().unwrap_or_default();
        assert_eq!([&usual.key, &usual.secret, &usual.region].map(text), ["A", "B", "eu-west-1"]);
        let work = parsed(Some("work"));
        let fields = [&work.key, &work.secret, &work.token, &work.region, &work.endpoint];
        assert_eq!(fields.map(text), ["C", "D=", "E", "us-west-2", "http://h:9"]);
        let known = Profile::parse(Some("work"), CREDENTIALS, CONFIG, true).unwrap();
        assert_eq!([&known.key, &known.region].map(text), ["", "us-west-2"]);
        assert!(Profile::parse(None, "", "", false).unwrap().key.is_none());
    }

    #[test]
    fn profiles_that_cannot_be_used_are_refused() {
        for (name, reason) in
            [("none", "is neither in"), ("company", "has sso_session"), ("role", "has role_arn")]
        {
            let error = Profile::parse(Some(name), CREDENTIALS, CONFIG, false).err().unwrap();
            assert!(error.contains(reason), "{error}");
        }
    }
}
