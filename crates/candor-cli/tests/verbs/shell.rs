//! Completions and manual pages know every verb.

use crate::sandbox::Sandbox;

#[test]
fn completions_know_every_verb() {
    let sandbox = Sandbox::new();
    let commands = sandbox.verbs();
    assert!(commands.len() > 15 && commands.contains(&"schema infer".to_owned()), "{commands:?}");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = sandbox.run(&format!("completions {shell}")).fine().out;
        for word in commands.iter().flat_map(|command| command.split(' ')) {
            assert!(script.contains(word), "{shell} does not know {word}");
        }
    }
    sandbox.run("completions tcsh").refused(2, &["invalid value 'tcsh'", "bash"]);
}

#[cfg(unix)]
#[test]
fn bash_reads_its_completions() {
    let sandbox = Sandbox::new();
    sandbox.write("candor.bash", sandbox.run("completions bash").fine().out);
    // Asks bash for what follows "candor au".
    let script = "bash -n candor.bash && source candor.bash && COMP_WORDS=(candor au) COMP_CWORD=1 \
                  && _candor candor au candor && echo ${COMPREPLY[@]}";
    let said = std::process::Command::new("bash").args(["-c", script]).current_dir(sandbox.path("")).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&said.stdout), "audit\n", "{}", String::from_utf8_lossy(&said.stderr));
}

#[test]
fn every_verb_has_a_manual_page() {
    let sandbox = Sandbox::new();
    let said = sandbox.run("man --folder man1").fine().out;
    let commands = sandbox.verbs();
    assert!(said.starts_with(&format!("{} pages in man1", commands.len() + 1)), "{said}");
    for command in &commands {
        let page = sandbox.read(&format!("man1/candor-{}.1", command.replace(' ', "-")));
        let name = format!("candor\\-{}", command.replace([' ', '-'], "\\-"));
        assert!(page.contains(".SH NAME") && page.contains(&name), "{command}: {page}");
    }
    assert!(sandbox.read("man1/candor-design.1").contains("\\-\\-epsilon"));
    assert_eq!(sandbox.read("man1/candor.1"), sandbox.run("man").fine().out);
    sandbox.write("file", "");
    sandbox.run("man --folder file").refused(1, &["cannot create the folder file"]);
}
