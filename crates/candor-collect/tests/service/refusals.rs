//! Faults, guarded pages, and what cannot be served.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn every_fault_is_a_problem_of_its_own_and_stores_nothing() {
    let place = Place::new(None, |wording| wording.quota = Some(1));
    let running = place.start().await.unwrap();
    let good = lines(1).remove(0);
    let kind = |(status, body): (u16, String)| {
        let problem: serde_json::Value = serde_json::from_str(&body).unwrap();
        assert_eq!(problem["status"], status);
        assert!(!problem["detail"].as_str().unwrap().is_empty());
        (status, problem["type"].as_str().unwrap().trim_start_matches("urn:candor:problem:").to_owned())
    };
    let fingerprint = plan().1.fingerprint().to_string();
    let cases = [
        (good.replace(&fingerprint, "sha256:0"), 422, "fingerprint"),
        (good.replace("\"answer\":", "\"reply\":"), 422, "missing-column"),
        (good.replace("\"answer\":", "\"more\":1,\"answer\":"), 422, "unknown-column"),
        (good.replace("\"answer\":\"", "\"answer\":\"perhaps "), 422, "category"),
        (good.replace("\"answer\":\"", "\"answer\":{\"x\":\"").replace("\"}", "\"}}"), 422, "response"),
    ];
    for (response, status, expected) in cases {
        assert_eq!(kind(running.send(&id(0), None, &response).await), (status, expected.to_owned()));
    }
    for body in ["", "{}", "[1]", "{\"id\":1}", &body_of("short", None, &good), &body_of(&id(0), None, "[]")] {
        assert_eq!(kind(running.post(body).await), (400, "body".to_owned()), "{body}");
    }
    let long = format!("{{\"id\":\"{}\"}}", "x".repeat(2 << 20));
    assert_eq!(kind(running.post(&long).await), (413, "too-large".to_owned()));
    assert_eq!(running.results().await["responses"], 0);
    assert_eq!(running.send(&id(0), None, &good).await.0, 201);
    assert_eq!(kind(running.send(&id(1), None, &good).await), (403, "full".to_owned()));
    assert_eq!(running.send(&id(0), None, &good).await.0, 200, "a retry is answered all the same");
    let survey = Survey::read(&place.survey()).unwrap();
    open_store(&survey, None).await.unwrap().close().await.unwrap();
    assert_eq!(kind(running.send(&id(2), None, &good).await), (403, "closed".to_owned()));
    assert_eq!(running.send(&id(0), None, &good).await.0, 200);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_are_guarded_and_results_need_the_token() {
    let place = Place::new(None, |_| {});
    let running = place.start().await.unwrap();
    for path in [
        "/",
        "/survey.json",
        "/plan.json",
        "/client.js",
        "/survey.js",
        "/style.css",
        "/results",
        "/offline.html",
        "/nowhere",
    ] {
        let (head, _) = running.get(path, "").await;
        assert!(head.contains("content-security-policy: default-src 'none'; script-src 'self'"), "{path}");
        assert!(head.contains("referrer-policy: no-referrer") && !head.to_lowercase().contains("set-cookie"), "{path}");
    }
    assert_eq!(running.get("/plan.json", "").await.1, plan().0, "the plan as it is");
    let words: serde_json::Value = serde_json::from_str(&running.get("/survey.json", "").await.1).unwrap();
    assert_eq!(words["page_sha256"], candor_collect::random::hash(&running.get("/", "").await.1));
    let id: serde_json::Value = serde_json::from_str(&running.get("/id", "").await.1).unwrap();
    assert_eq!(id["id"].as_str().unwrap().len(), 32);
    for path in ["/results.json", "/responses.jsonl"] {
        for token in ["", "guess", &TOKEN[1..]] {
            assert!(running.get(path, token).await.0.starts_with("HTTP/1.1 401"), "{path}");
        }
        assert!(running.get(path, TOKEN).await.0.starts_with("HTTP/1.1 200"), "{path}");
    }
    let saved = running.get("/offline.html", "").await.1;
    assert!(saved.contains(&format!("\"address\":\"http://{}\"", running.address)) && !saved.contains("//survey\""));
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_served_says_why() {
    let place = Place::new(None, |_| {});
    let running = place.start().await.unwrap();
    let said = |result: Result<Running, CollectError>| result.err().map(|error| error.to_string()).unwrap();
    assert!(said(place.start().await).contains("another server is collecting"));
    let other = Place::new(None, |_| {});
    let serving =
        Serving { address: running.address, database: None, behind_proxy: false, token: None, reload: Arc::default() };
    let taken = collect(&other.survey(), serving.clone(), |_, _| {}, std::future::pending()).await;
    assert!(taken.unwrap_err().to_string().contains("cannot listen"));
    let open = Serving { address: "0.0.0.0:0".parse().unwrap(), ..serving };
    let refused = collect(&other.survey(), open, |_, _| {}, std::future::pending()).await;
    assert!(refused.unwrap_err().to_string().contains("--behind-proxy"));
    running.stop().await;

    // A database of another survey.
    let lotteries = concat!(env!("CARGO_MANIFEST_DIR"), "/../candor-base/tests/plans/good/lotteries.json");
    let folder = tempfile::tempdir().unwrap();
    Survey::create(&folder.path().join("s"), Path::new(lotteries)).unwrap();
    let database = place.survey().join("responses.sqlite").display().to_string();
    assert!(said(start(&folder.path().join("s"), Some(database)).await).contains("belongs to another survey"));
    let toml = place.survey().join("survey.toml");
    let text = std::fs::read_to_string(&toml).unwrap();
    std::fs::write(&toml, format!("tilte = \"x\"\n{text}")).unwrap();
    assert!(said(place.start().await).contains("survey.toml"), "unknown settings are refused");
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_that_end_with_a_bare_line_feed_are_refused() {
    let place = Place::new(None, |_| {});
    let running = place.start().await.unwrap();
    let good = "GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    assert!(raw(&running, good).await.starts_with("HTTP/1.1 200"));
    for bad in [good.replace("\r\n", "\n"), good.replacen("\r\n", "\n", 1), good.replace("x\r\n", "x\n")] {
        let said = raw(&running, &bad).await;
        assert!(said.starts_with("HTTP/1.1 400") || said.is_empty(), "{said}");
    }
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_is_a_page_for_people_and_a_problem_for_programs() {
    let place = Place::new(None, |_| {});
    let running = place.start().await.unwrap();
    for (method, path, status) in [("GET", "/nowhere", 404), ("GET", "/results.json", 401), ("GET", "/responses", 405)]
    {
        let ask = |accept: &str| {
            format!("{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\naccept: {accept}\r\n\r\n")
        };
        let page = raw(&running, &ask("text/html,*/*;q=0.8")).await;
        assert!(page.starts_with(&format!("HTTP/1.1 {status}")) && page.contains("<h1>"), "{page}");
        assert!(page.contains("content-security-policy"), "{page}");
        let problem = raw(&running, &ask("*/*")).await;
        assert!(problem.contains("application/problem+json") && problem.contains("urn:candor:problem:"), "{problem}");
    }
    running.stop().await;
}
