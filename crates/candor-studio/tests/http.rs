//! What the program answers over HTTP: who may call, what is refused and how it is said, and that nothing half-done
//! stays.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use candor_studio::server::serve;
use serde_json::{Value, json};

/// A running program.
struct Studio {
    shelf: tempfile::TempDir,
    port: u16,
    token: String,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
}

struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{} {}", self.status, self.body))
    }

    /// The answer is a problem of this kind, in a sentence that has these words.
    #[track_caller]
    fn refused(&self, status: u16, kind: &str, words: &str) {
        assert_eq!(self.status, status, "{}", self.body);
        let problem = self.json();
        assert_eq!(problem["kind"], kind, "{problem}");
        let text = problem["text"].as_str().unwrap();
        assert!(text.contains(words), "{text}");
        assert!(!text.contains('`') && !text.contains("Error"), "{text}");
    }

    #[track_caller]
    fn fine(self) -> Value {
        assert_eq!(self.status, 200, "{}", self.body);
        self.json()
    }
}

impl Studio {
    fn start() -> Studio {
        Studio::on(tempfile::tempdir().unwrap())
    }

    fn on(shelf: tempfile::TempDir) -> Studio {
        let (said, heard) = mpsc::channel();
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let folder = shelf.path().to_owned();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
            let ready = |address: &str| said.send(address.to_owned()).unwrap();
            let ended = async { drop(stopped.await) };
            runtime.block_on(serve(&folder, 0, ready, ended)).unwrap();
        });
        let address: String = heard.recv().unwrap();
        let (port, token) = address.strip_prefix("http://127.0.0.1:").unwrap().split_once("/#").unwrap();
        Studio { shelf, port: port.parse().unwrap(), token: token.to_owned(), stop: Some(stop) }
    }

    /// Sends a request with exactly these headers.
    fn raw(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
        headers.iter().for_each(|(name, value)| head += &format!("{name}: {value}\r\n"));
        stream.write_all(format!("{head}\r\n").as_bytes()).unwrap();
        stream.write_all(body).unwrap();
        let mut all = Vec::new();
        stream.read_to_end(&mut all).unwrap();
        let text = String::from_utf8_lossy(&all).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Answer { status, head: head.to_lowercase(), body: body.to_owned() }
    }

    fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Sends what the page sends.
    fn send(&self, method: &str, path: &str, body: &[u8]) -> Answer {
        let (host, token) = (self.host(), format!("Bearer {}", self.token));
        let origin = format!("http://{host}");
        let headers =
            [("Host", &*host), ("Origin", &origin), ("Authorization", &token), ("Sec-Fetch-Site", "same-origin")];
        self.raw(method, path, &headers, body)
    }

    fn act(&self, study: &str, action: &str, body: Value) -> Answer {
        self.send("POST", &format!("/api/study/{study}/{action}"), body.to_string().as_bytes())
    }

    fn state(&self, study: &str) -> Value {
        self.act(study, "state", json!({})).fine()
    }

    /// Makes a change from a window that knows the study as it is.
    fn change(&self, study: &str, action: &str, mut body: Value) -> Answer {
        body["revision"] = self.state(study)["study"]["revision"].clone();
        self.act(study, action, body)
    }

    fn edit(&self, study: &str, edit: Value) -> Answer {
        self.change(study, "edit", json!({"edit": edit}))
    }

    fn folder(&self, study: &str) -> PathBuf {
        self.shelf.path().join(study)
    }

    /// A study of a table whose plan is kept, and whose answers were drawn if so wished.
    fn study(&self, drawn: bool) {
        self.study_of(400, drawn);
    }

    /// The same with so many people.
    fn study_of(&self, rows: usize, drawn: bool) {
        self.send("PUT", "/api/upload/people.csv", people(rows).as_bytes()).fine();
        let tables = json!({"do": "publish", "tables": [{"of": "smokes", "by": ["sex"]}], "means": [], "models": []});
        self.edit("people", json!({"do": "role", "names": ["sex"], "role": "public"})).fine();
        self.edit("people", tables).fine();
        self.edit("people", json!({"do": "epsilon", "epsilon": 3.0})).fine();
        self.change("people", "plan", json!({})).fine();
        if drawn {
            self.change("people", "randomize", json!({"confirmed": null})).fine();
        }
    }
}

impl Drop for Studio {
    fn drop(&mut self) {
        self.stop.take().map(|stop| stop.send(()));
    }
}

/// A table with a measurement, row numbers and missing values.
fn people(rows: usize) -> String {
    let row = |i: usize| {
        let (sex, smokes) = (["f", "m"][i % 2], ["no", "sometimes", "daily", ""][i * 7 % 4]);
        format!("{i},{sex},{smokes},{}.5\n", 150 + i * 13 % 50)
    };
    format!(",sex,smokes,height\n{}", (0..rows).map(row).collect::<String>())
}

#[test]
fn only_the_own_page_may_call() {
    let studio = Studio::start();
    let (host, token) = (studio.host(), format!("Bearer {}", studio.token));
    let ask = |headers: &[(&str, &str)]| studio.raw("GET", "/api/studies", headers, b"");
    assert_eq!(ask(&[("Host", &host), ("Authorization", &token)]).status, 200);
    let local = format!("localhost:{}", studio.port);
    assert_eq!(ask(&[("Host", &local), ("Authorization", &token)]).status, 200);
    // DNS rebinding: another name that leads to this machine, even with the token.
    for other in
        ["evil.example", "evil.example:80", "127.0.0.1", "127.0.0.1:1", "[::1]", "", &format!("{host}.evil.example")]
    {
        let answer = ask(&[("Host", other), ("Authorization", &token)]);
        assert!([400, 421].contains(&answer.status), "{other}: {}", answer.status);
        assert_eq!(studio.raw("GET", "/", &[("Host", other)], b"").status, answer.status, "not even the page");
    }
    assert!([400, 421].contains(&ask(&[("Authorization", &token)]).status), "no host");
    let twice = ask(&[("Host", &host), ("Host", "evil.example"), ("Authorization", &token)]);
    assert!([400, 421].contains(&twice.status), "two hosts");
    // CSRF and CORS: another origin, even with the token; null is that of a sandboxed file.
    let ours = format!("http://{host}");
    for origin in
        ["http://evil.example", "null", &format!("https://{host}"), &format!("http://{local}"), "http://127.0.0.1:1"]
    {
        ask(&[("Host", &host), ("Authorization", &token), ("Origin", origin)]).refused(403, "origin", "Another page");
    }
    assert_eq!(ask(&[("Host", &host), ("Authorization", &token), ("Origin", &ours)]).status, 200);
    for site in ["cross-site", "same-site", "?"] {
        let headers = [("Host", &*host), ("Authorization", &token), ("Sec-Fetch-Site", site)];
        ask(&headers).refused(403, "origin", "Another page");
    }
    // A link may lead to the page, as from the file that opens it; nothing else of it may be fetched from elsewhere.
    let link = |path: &str, to: &str, site: &str| {
        let headers = [("Host", &*host), ("Sec-Fetch-Site", site), ("Sec-Fetch-Dest", to), ("Authorization", &token)];
        studio.raw("GET", path, &headers, b"").status
    };
    assert_eq!(link("/", "document", "cross-site"), 200);
    for (path, to) in
        [("/", "iframe"), ("/", "script"), ("/", "empty"), ("/main.js", "document"), ("/api/studies", "document")]
    {
        assert_eq!(link(path, to, "cross-site"), 403, "{path} as {to}");
    }
    let form = [("Host", &*host), ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Dest", "document")];
    assert_eq!(studio.raw("POST", "/", &form, b"").status, 403);
    let preflight = studio.raw("OPTIONS", "/api/studies", &[("Host", &host), ("Origin", "http://evil.example")], b"");
    assert_eq!(preflight.status, 403);
    assert!(!preflight.head.contains("access-control-allow"), "{}", preflight.head);
    // The token: none, another, part of it, as something else.
    for wrong in
        ["", "Bearer ", "Bearer x", &token[..token.len() - 1], &format!("{token}x"), &studio.token, "Basic eDp5"]
    {
        ask(&[("Host", &host), ("Authorization", wrong)]).refused(401, "token", "Open the address");
    }
    ask(&[("Host", &host)]).refused(401, "token", "Open the address");
}

/// Every endpoint, without the token and from elsewhere.
#[test]
fn every_endpoint_is_guarded() {
    let studio = Studio::start();
    studio.study(false);
    let before = studio.state("people");
    let host = studio.host();
    let mut paths = vec![("GET", "/api/studies".to_owned()), ("POST", "/api/studies".to_owned())];
    paths.extend([("GET", "/api/arriving".to_owned()), ("DELETE", "/api/arriving".to_owned())]);
    paths.push(("PUT", "/api/upload/x.csv".to_owned()));
    paths.push(("PUT", "/api/study/people/answers".to_owned()));
    let actions = [
        "state",
        "edit",
        "undo",
        "infer",
        "missing",
        "trade",
        "plan",
        "promise",
        "page",
        "bins",
        "randomize",
        "cards",
        "survey-start",
        "survey-pause",
        "survey-fetch",
        "estimates",
        "compare",
        "regression",
        "checks",
        "preview",
        "points",
        "publish",
        "ticket",
        "task",
        "stop",
        "responses",
    ];
    paths.extend(actions.map(|action| ("POST", format!("/api/study/people/{action}"))));
    for (method, path) in &paths {
        studio.raw(method, path, &[("Host", &host)], b"{}").refused(401, "token", "Open the address");
        let token = format!("Bearer {}", studio.token);
        let foreign = [("Host", &*host), ("Authorization", &token), ("Origin", "http://evil.example")];
        studio.raw(method, path, &foreign, b"{}").refused(403, "origin", "Another page");
        let rebound = [("Host", "evil.example"), ("Authorization", &token)];
        studio.raw(method, path, &rebound, b"{}").refused(421, "host", "127.0.0.1");
        if *method == "POST" {
            let bad = studio.send(method, path, b"{");
            bad.refused(400, "request", "not JSON");
        }
    }
    assert_eq!(studio.state("people"), before);
    assert_eq!(fs::read_dir(studio.shelf.path()).unwrap().count(), 1, "nothing was begun");
}

#[test]
fn pages_say_that_nothing_from_elsewhere_runs() {
    let studio = Studio::start();
    let host = studio.host();
    for path in ["/", "/main.js", "/steps/open.js", "/style.css", "/words.json", "/nowhere"] {
        let answer = studio.raw("GET", path, &[("Host", &host)], b"");
        assert_eq!(answer.status, if path == "/nowhere" { 404 } else { 200 });
        for part in [
            "default-src 'none'",
            "frame-ancestors 'none'",
            "x-frame-options: deny",
            "nosniff",
            "no-store",
            "same-origin",
        ] {
            assert!(answer.head.contains(part), "{path}: {part}");
        }
        assert!(!answer.head.contains("unsafe"), "{}", answer.head);
    }
    studio.study(false);
    let page = studio.act("people", "page", json!({"language": "en"})).fine();
    let address = page["address"].as_str().unwrap();
    let shown = studio.raw("GET", address, &[("Host", &host)], b"");
    assert_eq!(shown.status, 200);
    assert!(shown.body.contains("chance"), "{}", shown.body);
    for part in ["sandbox allow-scripts", "default-src 'none'", "frame-ancestors 'self'"] {
        assert!(shown.head.contains(part), "{part}");
    }
    assert!(!shown.head.contains("allow-same-origin"), "{}", shown.head);
    let guessed = format!("/files/{}/promise-en.html", "0".repeat(48));
    studio.raw("GET", &guessed, &[("Host", &host)], b"").refused(404, "missing", "no longer valid");
    for file in ["../people/study.json", "/etc/passwd", "publication/../study.json", ".studio/lock", "none"] {
        studio.act("people", "ticket", json!({"file": file})).refused(404, "missing", "no file");
    }
    studio.act("people", "page", json!({"language": "xx"})).refused(422, "input", "xx");
}

#[test]
fn bad_input_is_told_and_changes_nothing() {
    let studio = Studio::start();
    studio.study(false);
    let before = studio.state("people");
    let edit = |edit: Value| studio.edit("people", edit);
    edit(json!({"do": "epsilon", "epsilon": -1.0})).refused(422, "input", "above 0");
    edit(json!({"do": "epsilon", "epsilon": "x"})).refused(400, "request", "edit");
    edit(json!({"do": "respondents", "respondents": 0})).refused(422, "input", "1 or more");
    edit(json!({"do": "fly"})).refused(400, "request", "edit");
    edit(json!({"do": "role", "names": ["none"], "role": "protect"})).refused(422, "input", "none");
    edit(json!({"do": "role", "names": ["smokes", "sex"], "role": "out"})).refused(422, "input", "At least one");
    edit(json!({"do": "role", "names": ["height"], "role": "protect"})).refused(422, "input", "groups");
    edit(json!({"do": "bins", "name": "height", "edges": []})).refused(422, "input", "height");
    edit(json!({"do": "bins", "name": "height", "edges": [180, 160]})).refused(422, "input", "height");
    edit(json!({"do": "order", "name": "smokes", "categories": ["x"], "ordinal": true})).refused(
        422,
        "input",
        "same answers",
    );
    edit(json!({"do": "asked-if", "name": "smokes", "condition": "nobody = x"})).refused(422, "input", "nobody");
    let wrong = json!({"do": "publish", "tables": [{"of": "none", "by": []}], "means": [], "models": []});
    edit(wrong).refused(422, "input", "none");
    let own = json!({"do": "publish", "tables": [{"of": "sex", "by": ["sex"]}], "means": [], "models": []});
    edit(own).refused(422, "input", "itself");
    let mean = json!({"do": "publish", "tables": [], "means": ["sex"], "models": []});
    edit(mean).refused(422, "input", "sex");
    edit(json!({"do": "sheet", "language": "en", "name": "no such text", "text": "x"})).refused(
        422,
        "input",
        "no such text",
    );
    edit(json!({"do": "languages", "languages": ["xx"]})).refused(422, "input", "xx");
    studio.act("people", "edit", json!({"edit": {"do": "title", "title": "x"}})).refused(400, "request", "revision");
    studio.change("people", "fly", json!({})).refused(404, "missing", "fly");
    studio.act("none", "state", json!({})).refused(404, "missing", "none");
    studio.act("..%2Fetc", "state", json!({})).refused(404, "missing", "no study");
    studio.act("people", "trade", json!({"epsilon": -2})).refused(422, "input", "above 0");
    studio.act("people", "estimates", json!({})).refused(409, "first", "no answers yet");
    studio.act("people", "preview", json!({})).refused(409, "first", "no answers yet");
    studio.change("people", "survey-fetch", json!({})).refused(409, "first", "no survey");
    studio.send("PUT", "/api/study/people/answers", b"a\n").refused(409, "first", "no cards");
    let _ = fs::remove_file(studio.folder("people").join("answers.csv"));
    assert_eq!(studio.state("people"), before);
    let uploads: [(&str, &[u8], &str); 6] = [
        ("x.xlsx", b"PK", "Excel"),
        ("x.csv", b"", "x.csv"),
        ("x.csv", b"a,b\n", "no records"),
        ("x.csv", b"a,a\n1,2\n", "a"),
        ("x.csv", b"a,b\n1,2\n3\n", "x.csv"),
        ("x.parquet", b"PAR1 broken", "x.parquet"),
    ];
    for (name, content, words) in uploads {
        studio.send("PUT", &format!("/api/upload/{name}"), content).refused(422, "input", words);
    }
    assert_eq!(fs::read_dir(studio.shelf.path()).unwrap().count(), 1, "nothing of them stays");
}

#[test]
fn two_windows_notice_each_other() {
    let studio = Studio::start();
    studio.study(false);
    let known = studio.state("people")["study"]["revision"].clone();
    let edit = |title: &str| json!({"revision": known, "edit": {"do": "title", "title": title}});
    studio.act("people", "edit", edit("first")).fine();
    studio.act("people", "edit", edit("second")).refused(409, "changed", "another window");
    assert_eq!(studio.state("people")["title"], "first");
    // A second program is kept out of the study.
    let other = candor_studio::shelf::Shelf::new(studio.shelf.path()).unwrap();
    assert_eq!(other.open("people").err().unwrap().kind, "open-elsewhere");
}

#[test]
fn every_edit_can_be_undone_and_survives_the_program() {
    let mut studio = Studio::start();
    studio.study(false);
    let before = studio.state("people");
    let mut steps = vec![before.clone()];
    for edit in [
        json!({"do": "role", "names": ["sex"], "role": "protect"}),
        json!({"do": "bins", "name": "height", "edges": [160, 180]}),
        json!({"do": "order", "name": "smokes", "categories": ["daily", "sometimes", "no", ""], "ordinal": true}),
        json!({"do": "question", "name": "smokes", "language": "en", "text": "Do you smoke?",
               "answers": {"no": "Never"}}),
        json!({"do": "publish", "tables": [{"of": "height", "by": []}], "means": [], "models": []}),
    ] {
        studio.edit("people", edit.clone()).fine();
        steps.push(studio.state("people"));
    }
    assert_eq!(steps[5]["texts"]["en"]["questions"]["smokes"]["text"], "Do you smoke?");
    let plain = |state: &Value| {
        let mut state = state.clone();
        state["study"]["revision"] = Value::Null;
        (state["undo"], state["plan"]) = (Value::Null, Value::Null);
        state
    };
    // Another program on the same folder knows all of it: nothing was only in memory.
    let shelf = std::mem::replace(&mut studio.shelf, tempfile::tempdir().unwrap());
    drop(studio);
    let began = Instant::now();
    let studio = loop {
        // The first program ends by itself; its lock goes with it.
        let shelf_now = candor_studio::shelf::Shelf::new(shelf.path()).unwrap();
        if shelf_now.open("people").is_ok() {
            drop(shelf_now);
            break Studio::on(shelf);
        }
        assert!(began.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(50));
    };
    assert_eq!(plain(&studio.state("people")), plain(&steps[5]));
    for step in steps[..5].iter().rev() {
        studio.act("people", "undo", json!({})).fine();
        assert_eq!(plain(&studio.state("people")), plain(step));
    }
    assert_eq!(studio.state("people")["plan"]["current"], true, "the plan is again the one that is asked for");
}

#[test]
fn people_are_drawn_once() {
    let studio = Studio::start();
    studio.study(true);
    let responses = fs::read(studio.folder("people").join("responses.parquet")).unwrap();
    let state = studio.state("people");
    assert_eq!(state["collect"]["draws"][0]["records"], 400);
    assert_eq!((&state["locked"], &state["undo"]), (&json!(true), &json!(0)));
    studio.edit("people", json!({"do": "epsilon", "epsilon": 8.0})).refused(409, "locked", "promised");
    studio.change("people", "plan", json!({})).refused(409, "locked", "promised");
    studio.change("people", "infer", json!({})).refused(409, "locked", "promised");
    studio.change("people", "cards", json!({})).refused(409, "locked", "promised");
    let again = |confirmed: Value| studio.change("people", "randomize", json!({"confirmed": confirmed}));
    let next = state["collect"]["next"]["type"].as_str().unwrap().to_owned();
    assert!(next == "6.0" || next == "5.9", "{next}");
    for wrong in [json!(null), json!("yes"), json!("3.0")] {
        again(wrong).refused(409, "locked", &next);
    }
    assert_eq!(fs::read(studio.folder("people").join("responses.parquet")).unwrap(), responses);
    // The same file in a second study is the same people.
    studio.send("PUT", "/api/upload/people.csv", people(400).as_bytes()).fine();
    let tables = json!({"do": "publish", "tables": [{"of": "smokes", "by": []}], "means": [], "models": []});
    studio.edit("people-2", tables).fine();
    studio.edit("people-2", json!({"do": "epsilon", "epsilon": 1.0})).fine();
    studio.change("people-2", "plan", json!({})).fine();
    studio.change("people-2", "randomize", json!({"confirmed": null})).refused(409, "locked", "once already");
    again(json!(next)).fine();
    assert_eq!(studio.state("people")["collect"]["draws"].as_array().unwrap().len(), 2);
    assert_ne!(fs::read(studio.folder("people").join("responses.parquet")).unwrap(), responses);
}

#[test]
fn files_changed_by_hand_are_told() {
    let studio = Studio::start();
    studio.study(true);
    let at = |name: &str| studio.folder("people").join(name);
    let estimates = studio.act("people", "estimates", json!({})).fine();
    assert_eq!(estimates["respondents"], 400);
    // A plan that promises more than it keeps.
    let plan = fs::read_to_string(at("plan.json")).unwrap();
    fs::write(at("plan.json"), plan.replacen("smokes", "drinks", 1)).unwrap();
    let problem = studio.state("people")["plan"]["problem"].as_str().unwrap().to_owned();
    assert!(problem.contains("by hand") && problem.contains("Trade-off"), "{problem}");
    studio.act("people", "estimates", json!({})).refused(409, "first", "by hand");
    fs::write(at("plan.json"), &plan).unwrap();
    // Responses of another plan.
    let other = Studio::start();
    other.send("PUT", "/api/upload/people.csv", people(400).as_bytes()).fine();
    let tables = json!({"do": "publish", "tables": [{"of": "smokes", "by": []}], "means": [], "models": []});
    other.edit("people", tables).fine();
    other.edit("people", json!({"do": "epsilon", "epsilon": 1.0})).fine();
    other.change("people", "plan", json!({})).fine();
    other.change("people", "randomize", json!({"confirmed": null})).fine();
    let own = fs::read(at("responses.parquet")).unwrap();
    fs::copy(other.folder("people").join("responses.parquet"), at("responses.parquet")).unwrap();
    studio.act("people", "estimates", json!({})).refused(409, "other-plan", "Put back the responses");
    fs::write(at("responses.parquet"), own).unwrap();
    assert_eq!(studio.act("people", "estimates", json!({})).fine(), estimates);
    // A schema and requests that are none; the ledger, which nobody may lose.
    for (name, words) in [("schema.toml", "schema.toml"), ("study.json", "study.json"), ("draws.json", "put it back")] {
        let own = fs::read(at(name)).unwrap();
        fs::write(at(name), "{broken").unwrap();
        studio.act("people", "state", json!({})).refused(422, "input", words);
        fs::write(at(name), own).unwrap();
    }
    fs::remove_file(at("people.csv")).unwrap();
    studio.act("people", "state", json!({})).refused(404, "missing", "Put it back");
}

#[cfg(unix)]
#[test]
fn folders_that_cannot_be_written_are_told() {
    use std::os::unix::fs::PermissionsExt;
    let studio = Studio::start();
    studio.study(false);
    let folder = studio.folder("people");
    let before = fs::read(folder.join("study.json")).unwrap();
    let set = |mode: u32| {
        for path in [folder.clone(), folder.join(".studio"), folder.join(".studio/undo")] {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        }
    };
    set(0o555);
    let can_all_the_same = fs::write(folder.join("probe"), "").is_ok();
    let answer = studio.edit("people", json!({"do": "title", "title": "x"}));
    set(0o755);
    // The superuser writes anywhere: then a folder in the place of a file does the same.
    if can_all_the_same {
        fs::remove_file(folder.join("probe")).unwrap();
        fs::remove_file(folder.join("study.json")).unwrap();
        fs::create_dir(folder.join("study.json")).unwrap();
        let answer = studio.act("people", "state", json!({}));
        answer.refused(500, "file", "cannot be used");
        fs::remove_dir(folder.join("study.json")).unwrap();
        fs::write(folder.join("study.json"), &before).unwrap();
    } else {
        answer.refused(500, "file", "Check that the folder may be written to");
        assert_eq!(fs::read(folder.join("study.json")).unwrap(), before);
    }
    studio.edit("people", json!({"do": "title", "title": "x"})).fine();
}

#[test]
fn taken_ports_and_folders_are_told() {
    let studio = Studio::start();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let begin =
        |folder: &Path, port: u16| runtime.block_on(serve(folder, port, |_| (), std::future::ready(()))).unwrap_err();
    let problem = begin(studio.shelf.path(), studio.port);
    assert!(
        problem.text.contains(&studio.port.to_string()) && problem.text.contains("leave the port out"),
        "{}",
        problem.text
    );
    let file = studio.shelf.path().join("a file");
    fs::write(&file, "").unwrap();
    assert_eq!(begin(&file, 0).kind, "file");
}

#[test]
fn published_folder_is_whole() {
    let studio = Studio::start();
    studio.study(true);
    let done = studio.change("people", "publish", json!({})).fine();
    let files: Vec<&str> = done["done"]["files"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(files, ["report.html", "tables.csv", "plan.json", "methods.md", "promise-en.html", "commands.sh"]);
    let at = |name: &str| studio.folder("people").join("publication").join(name);
    assert!(!at("responses.parquet").exists() && !at("people.csv").exists());
    let archive = fs::read(studio.folder("people").join("publication.zip")).unwrap();
    assert_eq!((done["done"]["bytes"].as_u64().unwrap(), &archive[..4]), (archive.len() as u64, &b"PK\x03\x04"[..]));
    let address = studio.act("people", "ticket", json!({"file": "publication.zip"})).fine()["address"].clone();
    let shown = studio.raw("GET", address.as_str().unwrap(), &[("Host", &studio.host())], b"");
    assert!(shown.status == 200 && shown.head.contains("application/zip"), "{}", shown.head);
    let plan = |path: PathBuf| fs::read_to_string(path).unwrap();
    assert_eq!(plan(at("plan.json")), plan(studio.folder("people").join("plan.json")));
    let script = fs::read_to_string(at("commands.sh")).unwrap();
    assert!(script.contains("candor design schema.toml --method workload --epsilon 3 --respondents 400"), "{script}");
    studio.edit("people", json!({"do": "publish-responses", "publish": true})).fine();
    studio.change("people", "publish", json!({})).fine();
    assert!(at("responses.parquet").exists());
    studio.edit("people", json!({"do": "publish-responses", "publish": false})).fine();
    studio.change("people", "publish", json!({})).fine();
    assert!(!at("responses.parquet").exists(), "what is no longer to be published goes");
}

/// Whatever a request holds, it is answered in a sentence, and nothing is written but below the shelf.
#[test]
fn hostile_requests_reach_nothing() {
    let studio = Studio::start();
    studio.study(true);
    let before = studio.state("people");
    for path in [
        "/..%2f..%2fetc%2fpasswd",
        "/../../etc/passwd",
        "/steps/..%2f..%2fmain.js",
        "/files/x/..%2fstudy.json",
        "/api/study/people",
    ] {
        let answer = studio.send("GET", path, b"");
        assert!([400, 404, 405].contains(&answer.status), "{path}: {}", answer.status);
        assert!(!answer.body.contains("root:") && !answer.body.contains("revision"), "{path}");
    }
    for study in ["..", "%2e%2e", "people%2f..", "people%00", ".studio", "%5c"] {
        let answer = studio.act(study, "state", json!({}));
        assert!([400, 404].contains(&answer.status), "{study}: {} {}", answer.status, answer.body);
    }
    // A body that is longer than any request, and bodies that are none.
    let long = format!("{{\"edit\": \"{}\"}}", "x".repeat(1 << 22));
    studio.send("POST", "/api/study/people/edit", long.as_bytes()).refused(400, "request", "cannot be read");
    let forms: [&[u8]; 5] = [b"a=b&c=d", b"\xff\xfe", b"[]", b"null", b"{\"revision\": 1e400}"];
    for body in forms {
        let answer = studio.send("POST", "/api/study/people/edit", body);
        assert_eq!(answer.status, 400, "{}", answer.body);
        assert_eq!(answer.json()["kind"], "request");
    }
    let deep = "[".repeat(100_000);
    studio.send("POST", "/api/study/people/edit", deep.as_bytes()).refused(400, "request", "not JSON");
    assert_eq!(studio.state("people"), before);
    // A name that leads elsewhere is a name like others.
    studio.send("PUT", "/api/upload/..%2F..%2Fevil.csv", people(20).as_bytes()).fine();
    assert!(studio.folder("evil").join("evil.csv").is_file());
    assert!(!studio.shelf.path().parent().unwrap().join("evil.csv").exists());
    // The study's own files keep their names.
    let responses = fs::read(studio.folder("people").join("responses.parquet")).unwrap();
    studio.send("PUT", "/api/upload/responses.parquet", &responses).fine();
    assert_eq!(studio.state("table-responses")["study"]["data"], "table-responses.parquet");
}

/// A table that arrives tells how far it is, and can be stopped; nothing of it stays.
#[test]
fn tables_that_arrive_can_be_stopped() {
    let studio = Studio::start();
    assert_eq!(studio.send("GET", "/api/arriving", b"").fine(), Value::Null);
    let mut stream = TcpStream::connect(("127.0.0.1", studio.port)).unwrap();
    let (body, half) = (people(2000), people(2000).len() / 2);
    let head = format!(
        "PUT /api/upload/people.csv HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\
         Content-Length: {}\r\n\r\n",
        studio.host(),
        studio.token,
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(&body.as_bytes()[..half]).unwrap();
    let began = Instant::now();
    loop {
        let now = studio.send("GET", "/api/arriving", b"").fine();
        if now["done"] == half {
            assert_eq!((&now["what"], &now["total"]), (&json!("bytes"), &json!(body.len())));
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(30), "{now}");
    }
    studio.send("DELETE", "/api/arriving", b"").fine();
    // What comes after it may find the connection closed.
    let _ = stream.write_all(&body.as_bytes()[half..]);
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    assert!(answer.is_empty() || answer.contains("409") && answer.contains("stopped"), "{answer}");
    while fs::read_dir(studio.shelf.path()).unwrap().count() > 0 {
        assert!(began.elapsed() < Duration::from_secs(30), "nothing stays");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(studio.send("GET", "/api/arriving", b"").fine(), Value::Null);
}

/// A table of numbers alone has no question yet, but can have: once there are groups.
#[test]
fn tables_of_numbers_can_be_grouped() {
    let studio = Studio::start();
    let rows: String = (0..300).map(|i| format!("{}.5,{}\n", i, i * 7 % 301)).collect();
    studio.send("PUT", "/api/upload/people.csv", format!("height,weight\n{rows}").as_bytes()).fine();
    let state = studio.state("people");
    assert_eq!((&state["columns"][0]["role"], &state["columns"][0]["usable"]), (&json!("out"), &json!(true)));
    studio.edit("people", json!({"do": "bins", "name": "height", "edges": [100, 200]})).fine();
    assert_eq!(studio.state("people")["columns"][0]["attribute"]["labels"].as_array().unwrap().len(), 3);
    studio.act("people", "undo", json!({})).fine();
    assert_eq!(studio.state("people")["columns"][0]["role"], "out");
    assert_eq!(state["columns"][0]["every"], Value::Null, "no picture yet");
    // A picture that was not made of every row says so.
    let many: String = (0..70_000).map(|i| format!("{i}.5\n")).collect();
    studio.send("PUT", "/api/upload/many.csv", format!("height\n{many}").as_bytes()).fine();
    studio.edit("many", json!({"do": "bins", "name": "height", "edges": [35_000]})).fine();
    let column = studio.state("many")["columns"][0].clone();
    assert_eq!((&column["every"], &column["counts"]), (&json!(2), &json!([35_000, 35_000])));
    let none = studio.send("PUT", "/api/upload/x.csv", b"a\nsame\nsame\n");
    none.refused(422, "input", "No column of this table can be used");
}

/// The browser is led to the page by a file of its owner; the secret is among nobody's arguments.
#[cfg(target_os = "linux")]
#[test]
fn browsers_are_opened_without_telling_the_secret() {
    use std::io::BufRead;
    use std::os::unix::fs::PermissionsExt;
    let (shelf, path) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let opener = path.path().join("xdg-open");
    let told = path.path().join("told");
    fs::write(&opener, format!("#!/bin/sh\necho \"$@\" > '{0}.part'\n/bin/mv '{0}.part' '{0}'\n", told.display()))
        .unwrap();
    fs::set_permissions(&opener, fs::Permissions::from_mode(0o755)).unwrap();
    let mut studio = std::process::Command::new(env!("CARGO_BIN_EXE_candor-studio"));
    let mut studio =
        studio.arg(shelf.path()).env("PATH", path.path()).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    std::io::BufReader::new(studio.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("candor studio: ").unwrap();
    let began = Instant::now();
    while !told.exists() {
        assert!(began.elapsed() < Duration::from_secs(30), "the browser is opened");
        std::thread::sleep(Duration::from_millis(20));
    }
    let door = shelf.path().join("open-studio.html");
    assert_eq!(fs::read_to_string(&told).unwrap().trim(), door.display().to_string());
    assert!(fs::read_to_string(&door).unwrap().contains(address), "{address}");
    assert_eq!(fs::metadata(&door).unwrap().permissions().mode() & 0o777, 0o600);
    studio.kill().unwrap();
    studio.wait().unwrap();
}

/// A study of somebody else names files elsewhere, or links to them: none is read or written.
#[cfg(unix)]
#[test]
fn hostile_studies_reach_nothing() {
    let studio = Studio::start();
    studio.study(true);
    let secret = studio.shelf.path().join("secret.csv");
    fs::write(&secret, people(400)).unwrap();
    let at = |name: &str| studio.folder("people").join(name);
    let study: Value = serde_json::from_str(&fs::read_to_string(at("study.json")).unwrap()).unwrap();
    let write = |field: &str, value: Value| {
        let mut changed = study.clone();
        changed[field] = value;
        fs::write(at("study.json"), changed.to_string()).unwrap();
    };
    for name in ["../secret.csv", secret.to_str().unwrap(), "", "..", "x/../../secret.csv"] {
        write("data", json!(name));
        studio.act("people", "state", json!({})).refused(422, "input", "study's folder");
    }
    for code in ["../x", "en/../../x", "", "e n"] {
        write("languages", json!(["en", code]));
        studio.act("people", "state", json!({})).refused(422, "input", "language");
    }
    std::os::unix::fs::symlink(&secret, at("link.csv")).unwrap();
    write("data", json!("link.csv"));
    studio.act("people", "state", json!({})).refused(422, "input", "leads out");
    fs::write(at("study.json"), study.to_string()).unwrap();
    studio.act("people", "ticket", json!({"file": "link.csv"})).refused(422, "input", "leads out");
    let elsewhere = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), at("publication")).unwrap();
    studio.change("people", "publish", json!({})).refused(422, "input", "leads out");
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    fs::remove_file(at("publication")).unwrap();
    studio.change("people", "publish", json!({})).fine();
}

/// Main points hold the numbers of the tables, and say what is wrong with them.
#[test]
fn main_points_follow_the_tables() {
    let studio = Studio::start();
    studio.study_of(20_000, true);
    let points = || studio.act("people", "points", json!({})).fine();
    let page = || fs::read_to_string(studio.folder("people").join("report.html")).unwrap();
    assert_eq!(points()["own"], false);
    let shares = points()["shares"].as_array().unwrap().clone();
    let (share, read) = (shares[0]["share"].as_str().unwrap(), shares[0]["read"].as_str().unwrap());
    let set = |list: Value| studio.edit("people", json!({"do": "points", "language": "en", "points": list})).fine();
    set(json!([format!("As we saw, {share} of them."), " "]));
    assert_eq!(
        points()["points"],
        json!([{"text": format!("As we saw, {share} of them."), "read": format!("As we saw, {read} of them.")}])
    );
    studio.edit("people", json!({"do": "about", "language": "en", "name": "notes", "text": "One.\n\nTwo <b>."})).fine();
    studio.act("people", "preview", json!({})).fine();
    assert!(page().contains(&format!("As we saw, {read} of them.")) && page().contains("<p>Two &lt;b&gt;.</p>"));
    for (wrong, words) in [("{smokes: never}", "no share"), ("{smokes}", "in braces"), ("{", "in braces")] {
        set(json!([wrong]));
        assert!(points()["points"][0]["problem"].as_str().unwrap().contains(words), "{}", points());
        studio.act("people", "preview", json!({})).refused(422, "input", words);
        studio.change("people", "publish", json!({})).refused(422, "input", words);
    }
    set(Value::Null);
    studio.change("people", "publish", json!({})).fine();
    let published = studio.folder("people").join("publication").join("report.html");
    assert!(!fs::read_to_string(published).unwrap().contains("As we saw"));
}

/// The browser is closed while a file is read: nothing of it stays, and the next study can have its name.
#[test]
fn uploads_that_break_off_leave_nothing() {
    let studio = Studio::start();
    let mut stream = TcpStream::connect(("127.0.0.1", studio.port)).unwrap();
    let head = format!(
        "PUT /api/upload/people.csv HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
         Content-Length: 1000000\r\n\r\n",
        studio.host(),
        studio.token
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(people(100).as_bytes()).unwrap();
    let studies = || fs::read_dir(studio.shelf.path()).unwrap().count();
    let began = Instant::now();
    let wait = |what: &str, holds: &dyn Fn() -> bool| {
        while !holds() {
            assert!(began.elapsed() < Duration::from_secs(30), "{what}");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    wait("the file is being read", &|| studies() == 1);
    drop(stream);
    wait("nothing stays", &|| studies() == 0);
    studio.send("PUT", "/api/upload/people.csv", people(100).as_bytes()).fine();
    assert_eq!(studio.state("people")["data"]["rows"], 100);
}

/// A study of means alone can be published.
#[test]
fn means_alone_are_published() {
    let studio = Studio::start();
    let days: String = (0..400).map(|i| format!("{}\n", i * i % 5)).collect();
    studio.send("PUT", "/api/upload/people.csv", format!("days\n{days}").as_bytes()).fine();
    assert_eq!(studio.state("people")["means"], json!(["days"]));
    studio.edit("people", json!({"do": "publish", "tables": [], "means": ["days"], "models": []})).fine();
    studio.edit("people", json!({"do": "epsilon", "epsilon": 3.0})).fine();
    studio.change("people", "plan", json!({})).fine();
    studio.change("people", "randomize", json!({"confirmed": null})).fine();
    let found = studio.act("people", "estimates", json!({})).fine();
    let shown = (&found["tables"][0]["attributes"], &found["numbers"][0]["attribute"]);
    assert_eq!(shown, (&json!(["days"]), &json!("days")));
    studio.change("people", "publish", json!({})).fine();
}

/// Questions that are written by hand, and cards for them.
#[test]
fn written_questions_become_cards() {
    let studio = Studio::start();
    let name = studio.send("POST", "/api/studies", br#"{"name": "My survey"}"#).fine()["name"].clone();
    assert_eq!(name, "My survey");
    let path = "My%20survey";
    studio.act(path, "trade", json!({"epsilon": null})).refused(409, "first", "no questions");
    let add = |answers: Value| {
        json!({"do": "add", "name": "smokes", "text": "Do you smoke?", "answers": answers, "ordinal": false,
               "role": "protect"})
    };
    studio.edit(path, add(json!(["yes"]))).refused(422, "input", "two answers");
    studio.edit(path, add(json!(["yes", "no"]))).fine();
    studio
        .edit(path, json!({"do": "publish", "tables": [{"of": "smokes", "by": []}], "means": [], "models": []}))
        .fine();
    studio.act(path, "trade", json!({"epsilon": null})).refused(409, "first", "how many people");
    studio.edit(path, json!({"do": "respondents", "respondents": 900})).fine();
    studio.edit(path, json!({"do": "epsilon", "epsilon": 1.61})).fine();
    let state = studio.change(path, "cards", json!({})).fine();
    assert_eq!(state["plan"]["method"], "device");
    assert!(fs::read_to_string(studio.folder("My survey").join("cards.html")).unwrap().contains("Do you smoke?"));
    let answers = "smokes\n".to_owned() + &"yes\nno\nno\n".repeat(20);
    studio.send("PUT", &format!("/api/study/{path}/answers"), b"smokes\nmaybe\n").refused(422, "input", "maybe");
    studio.send("PUT", &format!("/api/study/{path}/answers"), answers.as_bytes()).fine();
    let estimates = studio.act(path, "estimates", json!({})).fine();
    assert_eq!(estimates["respondents"], 60);
    let again = studio.send("PUT", &format!("/api/study/{path}/answers"), answers.as_bytes());
    again.refused(422, "input", "responses");
}
