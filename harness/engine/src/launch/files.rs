//! What is written and run before a gateway's processes start.

use indexmap::IndexMap;
use std::process::Stdio;

use super::Launch;
use crate::error::EngineError;
use crate::template::fill;

impl Launch {
    /// Runs the profile's preparations in order; their output becomes names for later templates.
    pub(super) async fn prepare(&mut self) -> Result<(), EngineError> {
        let shipped = std::sync::Arc::clone(&self.shipped);
        for step in &shipped.profile.prepare {
            self.write_files(&step.files)?;
            let command = self.fill_all("prepare", &step.command)?;
            let output = self.run(&command).await?;
            if let Some(name) = &step.output {
                let value = serde_json::from_slice(&output).map_err(|error| {
                    EngineError::Profile(format!(
                        "`{}` printed no JSON: {error}",
                        command.join(" ")
                    ))
                })?;
                self.names.insert(name.clone(), value);
            }
        }
        Ok(())
    }

    async fn run(&self, command: &[String]) -> Result<Vec<u8>, EngineError> {
        let [program, arguments @ ..] = command else {
            return Err(EngineError::Profile("a preparation has an empty command".into()));
        };
        let run = tokio::process::Command::new(program)
            .args(arguments)
            .current_dir(self.dir.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.dir.path())
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output();
        let failed = |what: String, detail: String| EngineError::Gateway {
            title: format!("`{}` {what}", command.join(" ")),
            detail,
            mend: "the gateway is prepared by its profile; install it anew or mend the profile"
                .into(),
        };
        let output = tokio::time::timeout(std::time::Duration::from_mins(1), run)
            .await
            .map_err(|_| failed("took more than 60 s".into(), String::new()))?
            .map_err(|error| failed(format!("cannot be run: {error}"), String::new()))?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let stderr = String::from_utf8_lossy(&output.stderr);
        let last: Vec<_> = stderr.lines().rev().take(12).collect();
        let detail = last.iter().rev().map(|line| format!("  | {line}\n")).collect();
        Err(failed(format!("failed ({})", output.status), detail))
    }

    /// Writes the files of a process or preparation into the launch's folder.
    pub(super) fn write_files(&self, files: &IndexMap<String, String>) -> Result<(), EngineError> {
        for (name, template) in files {
            let text = match template.strip_prefix("file:") {
                None => template.clone(),
                Some(beside) => {
                    let found = self.shipped.files.iter().find(|(known, _)| known == beside.trim());
                    let missing =
                        || EngineError::Profile(format!("no file `{beside}` beside the profile"));
                    found.map(|(_, text)| text.clone()).ok_or_else(missing)?
                }
            };
            let filled = fill(name, &text, &self.names)?;
            let path = self.dir.path().join(name);
            std::fs::write(&path, filled).map_err(|error| {
                EngineError::io(&format!("{} cannot be written", path.display()), &error)
            })?;
        }
        Ok(())
    }

    pub(super) fn fill_all(
        &self,
        what: &str,
        templates: &[String],
    ) -> Result<Vec<String>, EngineError> {
        let filled = templates.iter().map(|template| fill(what, template, &self.names));
        // A template that fills to nothing is an argument that is not given.
        filled.filter(|filled| !matches!(filled, Ok(text) if text.is_empty())).collect()
    }

    pub(super) fn fill_map(
        &self,
        what: &str,
        templates: &IndexMap<String, String>,
    ) -> Result<Vec<(String, String)>, EngineError> {
        let pairs = templates.iter();
        pairs.map(|(name, value)| Ok((name.clone(), fill(what, value, &self.names)?))).collect()
    }
}
