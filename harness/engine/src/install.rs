//! Installing a gateway: a private copy in the user's cache folder, one for each version.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use birdstrike_scenario::Profile;
use birdstrike_scenario::profile::{Install, Pip};
use tokio::process::Command;

use crate::error::EngineError;

/// Written last: a folder without it is a half-done install.
const DONE: &str = "birdstrike-installed";

/// What the user asked for: `NAME`, `NAME@VERSION`, `NAME@PATH`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The profile's name.
    pub name: String,
    /// The version, or the path of a work tree.
    pub version: Option<String>,
}

impl Wanted {
    /// Reads what the user wrote.
    pub fn parse(text: &str) -> Self {
        match text.split_once('@') {
            Some((name, version)) => {
                Self { name: name.to_owned(), version: Some(version.to_owned()) }
            }
            None => Self { name: text.to_owned(), version: None },
        }
    }

    /// The version, or the newest that the profile was measured with.
    pub fn version(&self, pip: &Pip) -> String {
        let newest = || pip.versions.first().cloned().unwrap_or_default();
        self.version.clone().unwrap_or_else(newest)
    }
}

/// The folder of an installed gateway; nothing for a gateway that needs no install.
///
/// # Errors
/// [`EngineError::Gateway`] when it is not installed.
pub fn find(profile: &Profile, wanted: &Wanted) -> Result<Option<PathBuf>, EngineError> {
    let Some(Install::Pip(pip)) = &profile.install else {
        return Ok(None);
    };
    let version = wanted.version(pip);
    let dir = folder(&profile.name, &version)?;
    if dir.join(DONE).is_file() {
        return Ok(Some(dir));
    }
    Err(EngineError::Gateway {
        title: format!("{} {version} is not installed", profile.name),
        detail: String::new(),
        mend: format!("birdstrike install {}@{version}", profile.name),
    })
}

/// Installs a gateway; one that is installed already stays, a work tree is installed anew.
/// `say` takes a line of progress.
///
/// # Errors
/// [`EngineError::Gateway`] with the installer's own last lines.
pub async fn install(
    profile: &Profile,
    wanted: &Wanted,
    say: &mut dyn FnMut(&str),
) -> Result<PathBuf, EngineError> {
    let Some(Install::Pip(pip)) = &profile.install else {
        let title = format!("{} needs no install", profile.name);
        return Err(EngineError::Usage(title));
    };
    let version = wanted.version(pip);
    let dir = folder(&profile.name, &version)?;
    let work_tree = is_path(&version);
    if dir.join(DONE).is_file() && !work_tree {
        say(&format!("{} {version} is installed already", profile.name));
        return Ok(dir);
    }
    let python = python(&pip.python).await?;
    say(&format!("making an environment with {python}"));
    remove(&dir)?;
    let made = dir.to_string_lossy().into_owned();
    run(&[&python, "-m", "venv", &made], "making a Python environment failed").await?;
    let inside = dir.join("bin/python").to_string_lossy().into_owned();
    let what = if work_tree { version.clone() } else { format!("{}=={version}", pip.package) };
    say(&format!("installing {what}"));
    let pip_install =
        [&inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", &what];
    run(&pip_install, &format!("installing {what} failed")).await?;
    if !pip.warm_up.is_empty() {
        let command = dir.join("bin").join(&pip.command).to_string_lossy().into_owned();
        let mut warm = vec![command.as_str()];
        warm.extend(pip.warm_up.iter().map(String::as_str));
        run(&warm, "the first start failed").await?;
    }
    std::fs::write(dir.join(DONE), format!("{what}\n"))
        .map_err(|error| EngineError::io("the install cannot be marked as done", &error))?;
    say(&format!("{} {version} is installed", profile.name));
    Ok(dir)
}

fn is_path(version: &str) -> bool {
    version.contains(['/', '\\']) || version.starts_with('.')
}

/// Where a version lives: under the user's cache folder.
fn folder(name: &str, version: &str) -> Result<PathBuf, EngineError> {
    let legal = |c: char| c.is_ascii_alphanumeric() || ".-_+".contains(c);
    let slug: String = version.chars().map(|c| if legal(c) { c } else { '_' }).collect();
    if slug.is_empty() || slug.trim_matches('.').is_empty() {
        return Err(EngineError::Usage(format!("`{version}` is no version")));
    }
    let home = || std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(home);
    let cache = cache.ok_or_else(|| {
        EngineError::Usage("no cache folder: set HOME or XDG_CACHE_HOME".to_owned())
    })?;
    Ok(cache.join("birdstrike/gateways").join(name).join(slug))
}

fn remove(dir: &Path) -> Result<(), EngineError> {
    if dir.exists() {
        std::fs::remove_dir_all(dir)
            .map_err(|error| EngineError::io("a half-done install cannot be removed", &error))?;
    }
    std::fs::create_dir_all(dir).map_err(|error| EngineError::io("no folder for it", &error))
}

/// A Python of at least that version.
async fn python(least: &str) -> Result<String, EngineError> {
    for name in ["python3", "python3.14", "python3.13", "python3.12", "python3.11", "python"] {
        let asked = Command::new(name)
            .args(["-c", "import sys, venv; print('%d.%d' % sys.version_info[:2])"])
            .stdin(Stdio::null())
            .output()
            .await;
        let told = asked.ok().filter(|output| output.status.success());
        let version = told.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
        if version.is_some_and(|version| at_least(&version, least)) {
            return Ok(name.to_owned());
        }
    }
    Err(EngineError::Gateway {
        title: format!("no Python {least} or newer with the venv module was found"),
        detail: String::new(),
        mend: format!("install Python {least} or newer and put it on PATH"),
    })
}

fn at_least(version: &str, least: &str) -> bool {
    let numbers =
        |text: &str| text.split('.').map(|n| n.parse().unwrap_or(0)).collect::<Vec<u32>>();
    numbers(version) >= numbers(least)
}

async fn run(command: &[&str], failed: &str) -> Result<(), EngineError> {
    let [program, arguments @ ..] = command else {
        return Err(EngineError::Harness("an empty command".into()));
    };
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .map_err(|error| EngineError::io(&format!("`{program}` cannot be run"), &error))?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    let last: Vec<&str> = said.lines().rev().take(12).collect();
    Err(EngineError::Gateway {
        title: failed.to_owned(),
        detail: last.iter().rev().map(|line| format!("  | {line}\n")).collect(),
        mend: "check the version and the network, then install again".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wishes_are_read() {
        let wanted = Wanted::parse("mcp-hangar@2.34.4");
        assert_eq!(
            (wanted.name.as_str(), wanted.version.as_deref()),
            ("mcp-hangar", Some("2.34.4"))
        );
        assert_eq!(Wanted::parse("reference").version, None);
        assert!(is_path("./tree") && is_path("/tree") && !is_path("2.34.4"));
    }

    #[test]
    fn versions_compare_by_number() {
        assert!(at_least("3.11", "3.11") && at_least("3.14", "3.9") && !at_least("3.9", "3.11"));
    }

    #[test]
    fn a_version_cannot_leave_the_cache() {
        let dir = folder("g", "../../etc").unwrap();
        assert!(dir.ends_with("birdstrike/gateways/g/.._.._etc"), "{}", dir.display());
        assert!(folder("g", "..").is_err());
    }
}
