//! Databases, restarts, health and new wording.

use super::*;

/// By TLS, checked: the certificate of the test's PostgreSQL, as `.ci/collect` makes it; and refused without it.
#[tokio::test(flavor = "multi_thread")]
async fn postgres_by_tls() {
    let Ok(certificate) = std::env::var("CANDOR_TEST_CERTIFICATE") else { return };
    let database = databases().await.remove(1).unwrap().replace("127.0.0.1", "localhost");
    let checked = format!("{database}?sslmode=verify-full&sslrootcert={certificate}");
    let place = Place::new(Some(checked), |_| {});
    let running = place.start().await.unwrap();
    assert_eq!(running.send(&id(0), None, &lines(1)[0]).await.0, 201);
    assert_eq!(running.results().await["responses"], 1);
    running.stop().await;
    let place = Place::new(Some(format!("{database}?sslmode=verify-full")), |_| {});
    let said = place.start().await.err().map(|error| error.to_string()).unwrap();
    assert!(said.contains("certificate") || said.contains("UnknownIssuer"), "{said}");
}

/// A server that another one took over from stores nothing more, and says so.
#[tokio::test(flavor = "multi_thread")]
async fn two_servers_on_one_database_do_not_mix() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("both.sqlite").display().to_string();
    for database in databases().await {
        let database = database.unwrap_or_else(|| file.clone());
        let (one, other) = (Place::new(Some(database.clone()), |_| {}), Place::new(Some(database), |_| {}));
        let first = one.start().await.unwrap();
        let good = lines(1).remove(0);
        assert_eq!(first.send(&id(0), None, &good).await.0, 201);
        let second = other.start().await.unwrap();
        let (status, body) = first.send(&id(1), None, &good).await;
        assert!(status == 503 && body.contains("another server"), "{body}");
        assert_eq!(second.send(&id(1), None, &good).await.0, 201);
        assert_eq!(second.results().await["responses"], 2);
        second.stop().await;
        let ended = tokio::time::timeout(Duration::from_secs(30), first.server).await.expect("it ends by itself");
        assert!(ended.unwrap().unwrap_err().to_string().contains("another server is collecting"));
        drop(first.stop);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn health_version_and_metrics() {
    let place = Place::new(None, |_| {});
    let running = place.start().await.unwrap();
    assert_eq!(running.get("/healthz", "").await.1, "ok\n");
    assert_eq!(running.get("/readyz", "").await.1, "ready\n");
    let version: serde_json::Value = serde_json::from_str(&running.get("/version", "").await.1).unwrap();
    assert_eq!(version["fingerprint"], plan().1.fingerprint().as_str());
    assert_eq!(version["version"], env!("CARGO_PKG_VERSION"));
    for (number, line) in lines(3).iter().enumerate() {
        assert_eq!(running.send(&id(number), None, line).await.0, 201);
    }
    assert_eq!(running.send("short", None, &lines(1)[0]).await.0, 400);
    assert!(running.get("/metrics", "guess").await.0.starts_with("HTTP/1.1 401"), "totals tell when somebody answers");
    let (head, text) = running.get("/metrics", TOKEN).await;
    assert!(head.contains("text/plain; version=0.0.4"), "{head}");
    for line in ["candor_responses 3", "candor_responses_waiting 3", "candor_http_requests_total{status=\"4xx\"} 2"] {
        assert!(text.lines().any(|found| found == line), "{line} in {text}");
    }
    // Every line is a comment, or a name with a number.
    assert!(text.lines().all(|line| line.starts_with("# ") || line.rsplit_once(' ').unwrap().1.parse::<f64>().is_ok()));
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn words_are_read_again_and_the_plan_is_not() {
    let place = Place::new(None, |_| {});
    let running = place.start().await.unwrap();
    let toml = place.survey().join("survey.toml");
    let text = std::fs::read_to_string(&toml).unwrap();
    let title = async || {
        let words: serde_json::Value = serde_json::from_str(&running.get("/survey.json", "").await.1).unwrap();
        words["words"]["en"]["title"].as_str().unwrap().to_owned()
    };
    let wait = async |expected: &str| {
        for _ in 0..200 {
            if title().await == expected {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("the title is {}", title().await);
    };
    std::fs::write(&toml, text.replace("\"A survey\"", "\"Another title\"")).unwrap();
    running.reload.notify_one();
    wait("Another title").await;
    std::fs::write(&toml, "nonsense").unwrap();
    running.reload.notify_one();
    tokio::time::sleep(Duration::from_millis(200)).await;
    wait("Another title").await;
    assert_eq!(running.send(&id(0), None, &lines(1)[0]).await.0, 201, "it still collects");
    running.stop().await;
}
