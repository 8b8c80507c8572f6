//! Responses: stored once, settled in batches, counted, exported.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn responses_are_stored_once_counted_and_exported() {
    for database in databases().await {
        let place = Place::new(database, |_| {});
        let running = place.start().await.unwrap();
        let given = lines(40);
        for (number, line) in given.iter().enumerate() {
            assert_eq!(running.send(&id(number), None, line).await, (201, "{\"stored\":true}".to_owned()));
        }
        for number in [0, 7, 39] {
            // The same id again, even with another response, adds nothing.
            assert_eq!(running.send(&id(number), None, &given[1]).await.0, 200);
        }
        let found = running.results().await;
        assert_eq!((&found["responses"], &found["closed"]), (&40.into(), &false.into()));
        running.stop().await;

        // Counts come back without being counted again, and go on.
        let running = place.start().await.unwrap();
        assert_eq!(running.results().await["estimates"], found["estimates"]);
        assert_eq!(running.send(&id(99), None, &given[0]).await.0, 201);
        assert_eq!(running.results().await["responses"], 41);
        running.stop().await;

        let survey = Survey::read(&place.survey()).unwrap();
        let store = open_store(&survey, place.database.as_deref()).await.unwrap();
        store.close().await.unwrap();
        for name in ["all.csv", "all.parquet"] {
            let target = Target::new(&place.folder.path().join(name).display().to_string());
            let format = Format::for_target(&target);
            assert_eq!(export(&survey, &store, target, format).await.unwrap(), 41);
        }
        let page: Vec<String> = store.page(0, 100).await.unwrap().into_iter().map(|(_, line)| line).collect();
        let (mut sorted, mut expected) = (page.clone(), [&given[..], &given[..1]].concat());
        assert_ne!(page, expected, "the order is random");
        sorted.sort();
        expected.sort();
        assert_eq!(sorted, expected);
        store.end().await;
    }
}

/// A response is settled with its batch, and the rest when the survey is closed; its id is known before and after.
#[tokio::test(flavor = "multi_thread")]
async fn responses_wait_for_their_batch() {
    for database in databases().await {
        let place = Place::new(database, |wording| wording.batch = 7);
        let running = place.start().await.unwrap();
        let survey = Survey::read(&place.survey()).unwrap();
        let store = open_store(&survey, place.database.as_deref()).await.unwrap();
        for (number, line) in lines(30).iter().enumerate() {
            assert_eq!(running.send(&id(number), None, line).await.0, 201);
            assert_eq!(running.send(&id(number), None, line).await.0, 200, "it again");
            assert_eq!(running.send(&id(number / 2), None, line).await.0, 200, "an older one again");
            let (settled, waits) = (store.responses().await.unwrap(), store.waiting().await.unwrap());
            assert_eq!((settled, waits.len()), ((number as u64 + 1) / 7 * 7, (number + 1) % 7));
            assert_eq!(running.results().await["responses"], number + 1, "all are counted");
        }
        assert_eq!(running.get("/responses.jsonl", TOKEN).await.1.lines().count(), 28);
        store.close().await.unwrap();
        assert_eq!(running.get("/responses.jsonl", TOKEN).await.1.lines().count(), 30);
        let mut before: Vec<String> = store.page(0, 100).await.unwrap().into_iter().map(|(_, line)| line).collect();
        let mut sent = lines(30);
        before.sort();
        sent.sort();
        assert_eq!(before, sent);
        store.end().await;
        running.stop().await;
        assert!(!place.survey().join("responses.sqlite-wal").exists(), "all of it is in one file");
    }
}

/// Responses that wait are encrypted, in SQLite: without the key file they are gone, and that is said.
#[tokio::test(flavor = "multi_thread")]
async fn a_lost_key_file_is_told() {
    let place = Place::new(None, |_| {});
    let running = place.start().await.unwrap();
    assert_eq!(running.send(&id(0), None, &lines(1)[0]).await.0, 201);
    running.stop().await;
    let key = place.survey().join("responses.sqlite-waiting-key");
    let kept = std::fs::read(&key).unwrap();
    std::fs::write(&key, [0; 32]).unwrap();
    let said = place.start().await.err().map(|error| error.to_string()).unwrap();
    assert!(said.contains("restore the key file"), "{said}");
    std::fs::write(&key, kept).unwrap();
    let running = place.start().await.unwrap();
    assert_eq!(running.results().await["responses"], 1);
    running.stop().await;
}

/// Whoever sends cannot choose the id: there is no field in which a changed page could hide an answer.
#[tokio::test(flavor = "multi_thread")]
async fn ids_are_those_that_the_survey_handed_out() {
    let place = Place::new(None, |_| {});
    let running = place.start().await.unwrap();
    let good = lines(1).remove(0);
    let given: serde_json::Value = serde_json::from_str(&running.get("/id", "").await.1).unwrap();
    let given = given["id"].as_str().unwrap().to_owned();
    for smuggled in ["0".repeat(32), secret()[..32].to_owned(), format!("{}{}", "74727574", &given[8..])] {
        let (status, body) = running.send(&smuggled, None, &good).await;
        assert!(status == 403 && body.contains("unknown-id"), "{body}");
    }
    assert_eq!(running.send(&given, None, &good).await.0, 201);
    running.stop().await;
    // What was stored is answered even if the key is another one; nothing else is.
    std::fs::write(place.survey().join("id-key"), "another secret that is long enough for a key").unwrap();
    let running = place.start().await.unwrap();
    assert_eq!(running.send(&given, None, &good).await.0, 200);
    assert_eq!(running.send(&id(3), None, &good).await.0, 403);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn estimates_are_those_of_the_study() {
    let place = Place::new(None, |_| {});
    let running = place.start().await.unwrap();
    for (number, line) in lines(60).iter().enumerate() {
        running.send(&id(number), None, line).await;
    }
    let shown = running.results().await;
    running.stop().await;
    let survey = Survey::read(&place.survey()).unwrap();
    let mut tallies = candor_collect::tallies::Tallies::new(&survey.plan);
    tallies.read(&survey.plan, &lines(60)).unwrap();
    let counts = tallies.counts(&survey.plan).unwrap();
    let expected = estimate(&survey.plan, &counts, &EstimateOptions::default().confidence(0.95)).unwrap();
    // Through text, as the page gets it.
    let expected: serde_json::Value = serde_json::from_str(&serde_json::to_string(&expected).unwrap()).unwrap();
    assert_eq!(shown["estimates"], expected);
    assert!(shown["needed"][0]["respondents"].as_f64().unwrap() > 60.0);
    assert_eq!(shown["dependences"].as_array().unwrap().len(), 1);
}
