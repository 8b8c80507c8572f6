//! Programs of their own: started where they are installed, and said how to install where not.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::sandbox::{CANDOR, Sandbox};

/// Runs a copy of the command in a folder of its own, where nothing else of candor is, with this path.
fn run(sandbox: &Sandbox, path: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
    let copy = sandbox.path("candor");
    if !copy.exists() {
        fs::copy(CANDOR, &copy).unwrap();
    }
    let said = Command::new(&copy).args(arguments).env("PATH", path).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (said.status.code(), text(&said.stdout), text(&said.stderr))
}

#[test]
fn installed_programs_are_started_and_others_named() {
    let sandbox = Sandbox::new();
    for name in ["studio", "collect"] {
        let (code, _, said) = run(&sandbox, "", &[name, "survey"]);
        assert_eq!(code, Some(1));
        assert!(said.contains(&format!("cargo install candor-{name}")), "{said}");
    }
    let folder = sandbox.path("elsewhere");
    fs::create_dir(&folder).unwrap();
    let program = folder.join("candor-studio");
    fs::write(&program, "#!/bin/sh\necho \"got $*\"\nexit 7\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let (code, out, _) = run(&sandbox, folder.to_str().unwrap(), &["studio", "a b", "--port", "1"]);
    assert_eq!((code, out.as_str()), (Some(7), "got a b --port 1\n"));
}
