//! Signing plans, and checking signatures.

use crate::sandbox::Sandbox;

#[test]
fn plans_are_signed_and_checked() {
    let sandbox = Sandbox::new();
    sandbox.run("design --categories 4,3 --method independent --epsilon 2 -o plan.json").fine();
    let public = sandbox.run("sign --new-key survey.key").fine().out.trim().to_owned();
    sandbox.write("survey.pub", format!("{public}\n"));
    let said = sandbox.run("sign plan.json --key survey.key").fine();
    assert!(said.out.contains("plan.json.sig") && said.out.contains(&public), "{}", said.out);
    for key in ["survey.pub", &public] {
        let said = sandbox.run(&format!("verify plan.json --public-key {key}")).fine();
        assert!(said.out.starts_with("Valid signature: plan.json"), "{}", said.out);
    }
    // Signing again changes nothing; nothing else is replaced.
    sandbox.run("sign plan.json --key survey.key").fine();
    sandbox.run("sign --new-key survey.key").refused(1, &["survey.key", "exists and is not replaced"]);
    let other = sandbox.run("sign --new-key other.key").fine().out.trim().to_owned();
    sandbox.run("sign plan.json --key other.key").refused(1, &["plan.json.sig", "exists and is not replaced"]);
    sandbox.run(&format!("verify plan.json --public-key {other}")).refused(1, &["wrong key", &public, &other]);
    // Through pipes.
    assert_eq!(sandbox.run("sign plan.json --key survey.key -o -").fine().out, sandbox.read("plan.json.sig"));
    // White space does not matter, contents do.
    let plan: serde_json::Value = serde_json::from_str(&sandbox.read("plan.json")).unwrap();
    sandbox.write("same.json", plan.to_string());
    sandbox.run(&format!("verify same.json --public-key {public} --signature plan.json.sig")).fine();
    sandbox.run("design --categories 4,3 --method independent --epsilon 3 -o next.json").fine();
    sandbox
        .run(&format!("verify next.json --public-key {public} --signature plan.json.sig"))
        .refused(1, &["wrong plan"]);
    sandbox.write("plan.json", sandbox.read("plan.json").replace("\"epsilon\": \"2\"", "\"epsilon\": \"1\""));
    sandbox.run(&format!("verify plan.json --public-key {public}")).refused(1, &["the epsilon of the record"]);
}

#[test]
fn mistakes_of_signing_are_told() {
    let sandbox = Sandbox::new();
    sandbox.run("design --categories 4 --method independent --epsilon 2 -o plan.json").fine();
    sandbox.run("sign --new-key survey.key").fine();
    sandbox.run("sign plan.json").refused(2, &["--key"]);
    sandbox.run("sign --key survey.key").refused(2, &["PLAN"]);
    sandbox.run("sign plan.json --new-key other.key").refused(2, &["cannot be used with"]);
    sandbox.run("sign plan.json --key plan.json").refused(1, &["not a private key"]);
    sandbox.run("sign plan.json --key none.key").refused(1, &["cannot read none.key"]);
    sandbox.run("sign --new-key none/survey.key").refused(1, &["none/survey.key", "cannot write"]);
    sandbox.run("verify plan.json --public-key survey.key").refused(1, &["not a public key"]);
    let key = sandbox.run("sign --new-key another.key").fine().out;
    sandbox.run(&format!("verify plan.json --public-key {}", key.trim())).refused(1, &["cannot read plan.json.sig"]);
    assert_eq!(sandbox.files(), ["another.key", "plan.json", "survey.key"]);
}
