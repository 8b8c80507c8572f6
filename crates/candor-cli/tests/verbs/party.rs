//! A protocol between parties: separate processes in separate folders that exchange files only.

use std::fs;
use std::path::Path;

use crate::sandbox::Sandbox;
use serde_json::Value;

const PARTIES: [&str; 3] = ["North", "South", "West"];

/// Each party's records, by number of the record: 40, 60 and 50 of them.
fn records(party: usize) -> String {
    let range = [0..40, 40..100, 100..150][party].clone();
    let line = |i: i32| format!("{},{},{}\n", i % 3, (i % 3 + i32::from(i % 10 == 0)) % 3, i / 7 % 2);
    format!("a,b,c\n{}", range.map(line).collect::<String>())
}

/// A folder for each party, with its records and the session, which was made in another one.
fn parties(options: &str) -> (Sandbox, Vec<Sandbox>) {
    let public = Sandbox::new();
    let all: String = (0..3).map(|party| records(party).replacen("a,b,c\n", "", usize::from(party > 0))).collect();
    public.write("all.csv", all);
    public.run("schema infer all.csv -o schema.toml").fine();
    public.run(&format!("party init schema.toml --parties North,South,West {options} -o session.json")).fine();
    let own = |party: usize| {
        let folder = Sandbox::new();
        folder.write("own.csv", records(party));
        send(&public, "session.json", &folder);
        folder
    };
    let folders = (0..3).map(own).collect();
    (public, folders)
}

fn send(from: &Sandbox, file: &str, to: &Sandbox) {
    let name = Path::new(file).file_name().unwrap();
    fs::copy(from.path(file), to.path(name.to_str().unwrap())).unwrap();
}

/// Every party shares, and each message goes where it says.
fn share(public: &Sandbox, folders: &[Sandbox], collectors: usize) {
    for (party, folder) in folders.iter().enumerate() {
        let from = PARTIES[party];
        folder.run(&format!("party share session.json own.csv --as {from} -o out")).fine();
        send(folder, &format!("out/announcement-{from}.json"), public);
        for (to, name) in PARTIES[..collectors].iter().enumerate() {
            send(folder, &format!("out/share-{from}-to-{name}.json"), &folders[to]);
        }
    }
}

fn shares_for(name: &str) -> String {
    PARTIES.map(|from| format!("share-{from}-to-{name}.json")).join(" ")
}

/// Every collector adds up, and publishes.
fn sum(public: &Sandbox, folders: &[Sandbox], collectors: usize) {
    for (name, folder) in PARTIES[..collectors].iter().zip(folders) {
        folder.run(&format!("party sum session.json {} --as {name}", shares_for(name))).fine();
        send(folder, &format!("sums-{name}.json"), public);
    }
}

/// All that is published.
fn published(collectors: usize) -> String {
    let announcements = PARTIES.map(|name| format!("announcement-{name}.json")).join(" ");
    let sums: Vec<String> = PARTIES[..collectors].iter().map(|name| format!("sums-{name}.json")).collect();
    format!("{announcements} {}", sums.join(" "))
}

fn json(sandbox: &Sandbox, words: &str) -> Value {
    serde_json::from_str(&sandbox.run(words).fine().out).unwrap()
}

#[test]
fn totals_are_those_of_all_records_together() {
    for (options, collectors) in [("", 3), ("--collectors 2", 2)] {
        let (public, folders) = parties(options);
        share(&public, &folders, collectors);
        sum(&public, &folders, collectors);
        let found = json(
            &public,
            &format!("party finish session.json {} --max-cells 9 -o clusters.json --json", published(collectors)),
        );
        let truth = json(&public, "associations schema.toml all.csv --max-cells 9 --json");
        assert_eq!((&found["dependences"], &found["clusters"]), (&truth["dependences"], &truth["clusters"]));
        assert_eq!((&found["records"], &found["epsilon"]), (&Value::from(150), &Value::Null));
        let total: u64 = found["totals"][0]["counts"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|row| row.as_array().unwrap())
            .map(|n| n.as_u64().unwrap())
            .sum();
        assert_eq!(total, 150);
        public.run("design schema.toml --method clusters --from-clusters clusters.json --epsilon 4 -o p.json").fine();
        let text = public.run(&format!("party finish session.json {}", published(collectors))).fine().out;
        assert!(text.contains("150 records of 3 parties") && text.contains("exact pair tables are public"), "{text}");
    }
}

#[test]
fn randomized_pairs_cost_what_they_say() {
    let (public, folders) = parties("--epsilon 30 --collectors 2");
    share(&public, &folders, 2);
    sum(&public, &folders, 2);
    let found = json(&public, &format!("party finish session.json {} --json", published(2)));
    let spent = found["epsilon"].as_f64().unwrap();
    assert!(spent <= 30.0 && spent > 29.9999, "{spent}");
    let truth = json(&public, "associations schema.toml all.csv --json");
    for (found, truth) in found["dependences"].as_array().unwrap().iter().zip(truth["dependences"].as_array().unwrap())
    {
        let [found, truth] = [found, truth].map(|d| d["value"].as_f64().unwrap());
        // At epsilon 10 a pair one answer in 2,500 is not the truth: of 150 records a few at most.
        assert!((found - truth).abs() < 0.15, "{found} {truth}");
    }
    let shared = folders[0].read("share-North-to-North.json");
    assert!(shared.contains("\"kind\": \"share\"") && shared.contains("\"to\": \"North\""), "{shared}");
}

/// Whoever does not answer is named, by the collectors and at the end.
#[test]
fn missing_parties_are_named() {
    let (public, folders) = parties("");
    share(&public, &folders, 3);
    fs::remove_file(folders[0].path("share-West-to-North.json")).unwrap();
    let few = "share-North-to-North.json share-South-to-North.json";
    folders[0]
        .run(&format!("party sum session.json {few} --as North"))
        .refused(1, &["North has no share from West", "begin a new session without"]);
    assert!(!folders[0].files().contains(&"sums-North.json".to_owned()));
    fs::remove_file(public.path("announcement-South.json")).unwrap();
    public
        .run("party finish session.json announcement-North.json announcement-West.json")
        .refused(1, &["no announcement of South", "no sums of North, South, West"]);
}

/// A crash while sharing leaves nothing that could be sent; sharing twice is refused, and noticed where it was done.
#[test]
fn sharing_again_is_refused_or_noticed() {
    let (public, folders) = parties("");
    folders[0].write("own.csv", "a,b,c\n0,0,9\n");
    folders[0].run("party share session.json own.csv --as North -o out").refused(1, &["own.csv", "c"]);
    assert_eq!(folders[0].files(), ["own.csv", "session.json"]);
    folders[0].write("own.csv", records(0));
    share(&public, &folders, 3);
    folders[0].run("party share session.json own.csv --as North -o out").refused(1, &["share once only"]);
    // It shares again elsewhere, and South gets shares of both.
    folders[0].run("party share session.json own.csv --as North -o again").fine();
    let both = format!("{} {}", shares_for("South"), folders[0].path("again/share-North-to-South.json").display());
    folders[1]
        .run(&format!("party sum session.json {both} --as South"))
        .refused(1, &["South got a second share from North"]);
    // South gets only the second one.
    send(&folders[0], "again/share-North-to-South.json", &folders[1]);
    sum(&public, &folders, 3);
    public
        .run(&format!("party finish session.json {}", published(3)))
        .refused(1, &["North announced a share for South that differs from the one that South received"]);
}

/// A session, and what is no document, stay as they are.
#[test]
fn outputs_replace_no_plan_and_no_session() {
    let (public, folders) = parties("");
    share(&public, &folders, 3);
    sum(&public, &folders, 3);
    for folder in [&public, &folders[0]] {
        folder.run("design --categories 2 --method warner --p 0.7 -o kept.json").fine();
    }
    let plan = public.read("kept.json");
    public.run(&format!("party finish session.json {} -o kept.json", published(3))).refused(1, &["kept.json"]);
    folders[0]
        .run(&format!("party sum session.json {} --as North -o kept.json", shares_for("North")))
        .refused(1, &["kept.json"]);
    let session = public.read("session.json");
    public.run("party init schema.toml --parties A,B,C -o session.json").refused(1, &["session.json"]);
    assert_eq!((public.read("session.json"), public.read("kept.json")), (session, plan));
}

/// Every byte of a message is protected, and what it says of itself must be true.
#[test]
fn changed_messages_are_refused() {
    let (public, folders) = parties("--collectors 2");
    share(&public, &folders, 2);
    let words = format!("party sum session.json {} --as North", shares_for("North"));
    let good = folders[0].read("share-West-to-North.json");
    let message: Value = serde_json::from_str(&good).unwrap();
    let digits = message["message"].as_str().unwrap();
    for place in (0..digits.len()).step_by(7) {
        let mut changed = digits.as_bytes().to_vec();
        changed[place] = if changed[place] == b'0' { b'1' } else { b'0' };
        folders[0].write("share-West-to-North.json", good.replace(digits, std::str::from_utf8(&changed).unwrap()));
        folders[0].run(&words).refused(1, &["West"]);
    }
    for (from, to, said) in [
        ("\"from\": \"West\"", "\"from\": \"South\"", "is actually the share from West"),
        ("\"kind\": \"share\"", "\"kind\": \"sums\"", "damaged"),
        ("\"version\": 1", "\"version\": 2", "version 1"),
        ("\"kind\": \"share\"", "\"kind\": \"share\", \"more\": 1", "missing, unknown or mistyped fields"),
        ("\"message\": \"", "\"message\": \"x", "truncated or changed"),
    ] {
        folders[0].write("share-West-to-North.json", good.replacen(from, to, 1));
        folders[0].run(&words).refused(1, &[said]);
    }
    folders[0].write("share-West-to-North.json", good);
    folders[0].run(&words).fine();
    let misdirected = format!("party sum session.json {} --as South", shares_for("North"));
    folders[0].run(&misdirected).refused(1, &["is for North, not for South"]);
    folders[0].run(&words.replace("--as North", "--as West")).refused(1, &["West is no collector", "North, South"]);
    folders[0].run(&words.replace("--as North", "--as East")).refused(1, &["\"East\" does not take part"]);
    // Another session, though of the same parties and schema.
    public.run("party init schema.toml --parties North,South,West --collectors 2 -o other.json").fine();
    send(&public, "other.json", &folders[0]);
    folders[0].run(&words.replace("session.json", "other.json")).refused(1, &["belongs to session"]);
    folders[0].run("party finish session.json share-West-to-North.json").refused(1, &["there is no announcement"]);
}

/// A collector that lies about its sums: found where the totals contradict each other, and named by its shares.
#[test]
fn a_false_sum_is_found() {
    let (public, folders) = parties("");
    share(&public, &folders, 3);
    sum(&public, &folders, 3);
    let words = format!("party finish session.json {}", published(3));
    public.run(&words).fine();
    lie(&public, "sums-South.json");
    let said = public.run(&words).refused(1, &["contradict each other", "party check"]);
    assert!(said.out.is_empty());
    for (name, folder) in PARTIES.iter().zip(&folders) {
        shares_for(name).split(' ').for_each(|file| send(folder, file, &public));
    }
    let check = |name: &str| format!("party check session.json {} {}", published(3), shares_for(name));
    public.run(&check("North")).fine();
    public.run(&check("West")).fine();
    public.run(&check("South")).refused(1, &["the sums of South are wrong"]);
    public.run(&format!("{} {}", check("North"), shares_for("West"))).fine();
    let all = format!("{} {} {}", check("North"), shares_for("South"), shares_for("West"));
    public.run(&all).refused(1, &["shares of all collectors"]);
    public.run(&format!("party check session.json {}", published(3))).refused(1, &["no shares to check"]);
    public.run(&format!("{words} share-West-to-North.json")).refused(1, &["for North only"]);
}

/// Adds one to the first sum of a message, with a good check.
fn lie(sandbox: &Sandbox, file: &str) {
    use sha2::{Digest, Sha256};
    let text = sandbox.read(file);
    let message: Value = serde_json::from_str(&text).unwrap();
    let digits = message["message"].as_str().unwrap();
    let mut bytes: Vec<u8> =
        (0..digits.len()).step_by(2).map(|i| u8::from_str_radix(&digits[i..i + 2], 16).unwrap()).collect();
    bytes[21] ^= 1;
    let body = bytes.len() - 8;
    let digest = Sha256::digest(&bytes[..body]);
    bytes[body..].copy_from_slice(&digest[..8]);
    let changed: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    sandbox.write(file, text.replace(digits, &changed));
}

#[test]
fn sessions_that_cannot_be_are_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("people.csv", records(1));
    sandbox.run("schema infer people.csv -o schema.toml").fine();
    let init = |options: &str| sandbox.run(&format!("party init schema.toml {options} -o session.json"));
    init("--parties North").refused(1, &["there are 1 parties"]);
    init("--parties North,north").refused(1, &["two parties have the name \"north\""]);
    init("--parties North,../x").refused(1, &["name of a party"]);
    init("--parties North,South --collectors 1").refused(1, &["1 collectors", "expected 2 to 2"]);
    init("--parties North,South --collectors 3").refused(1, &["3 collectors", "expected 2 to 2"]);
    init("--parties North,South --epsilon 0").refused(1, &["--epsilon is 0; it is a number above 0"]);
    init("--parties North,South --epsilon -1").refused(1, &["--epsilon is -1"]);
    assert_eq!(sandbox.files(), ["people.csv", "schema.toml"]);
    init("--parties North,South").fine();
    init("--parties North,South").refused(1, &["exists and is not replaced"]);
    sandbox.write("one.toml", "[[attribute]]\nname = \"a\"\ncategories = [\"x\", \"y\"]\n");
    sandbox.run("party init one.toml --parties A,B -o other.json").refused(1, &["only one attribute"]);
    // What is no message is not quoted: it may be true records.
    let said = sandbox.run("party sum session.json people.csv --as North").refused(1, &["not a message"]);
    assert!(!said.err.contains("a,b,c") && !said.err.contains("invalid type"), "{}", said.err);
    sandbox.run("party share schema.toml people.csv --as North -o out").refused(1, &["schema.toml", "not a session"]);
}
