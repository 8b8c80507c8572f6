//! Public results: closed batches only.

use super::*;

/// Stops a survey, has it look at public batches as if the last look had been on another day, and starts it again.
async fn next_day(place: &Place, running: Running) -> Running {
    running.stop().await;
    let file = place.survey().join("responses.sqlite");
    let url = place.database.clone().unwrap_or_else(|| format!("sqlite://{}", file.display()));
    let pool = sqlx::AnyPool::connect(&url).await.unwrap();
    let set = sqlx::query("UPDATE meta SET value = '2020-01-01' WHERE name = 'public day'");
    assert_eq!(set.execute(&pool).await.unwrap().rows_affected(), 1);
    pool.close().await;
    let running = place.start().await.unwrap();
    // What is looked at when it starts is done before the first message is served.
    running.results().await;
    running
}

/// What is public are batches that are closed when a day ends: no response closes one, a few more change nothing, and
/// restarts do not either.
#[tokio::test(flavor = "multi_thread")]
async fn the_public_sees_closed_batches_only() {
    sqlx::any::install_default_drivers();
    for database in databases().await {
        let place = Place::new(database, |wording| {
            wording.public_results = Some(20);
            wording.colluding = Some(5);
        });
        let running = place.start().await.unwrap();
        let public = async |running: &Running| -> serde_json::Value {
            serde_json::from_str(&running.get("/public.json", "").await.1).unwrap()
        };
        let given = lines(300);
        let (north, south): (Vec<&String>, Vec<&String>) = given.iter().partition(|line| line.contains("north"));
        assert_eq!(public(&running).await["responses"], 0);
        let mut next = 0;
        let mut send = async |running: &Running, lines: &[&String]| {
            for line in lines {
                assert_eq!(running.send(&id(next), None, line).await.0, 201);
                next += 1;
            }
        };
        send(&running, &north[..25]).await;
        send(&running, &south[..19]).await;
        let running = next_day(&place, running).await;
        assert_eq!(public(&running).await["responses"], 0, "only 19 from the south");
        send(&running, &south[19..22]).await;
        tokio::time::sleep(Duration::from_secs(3)).await;
        assert_eq!(
            public(&running).await["responses"],
            0,
            "enough, but the day is not over: no response closes a batch"
        );
        running.stop().await;
        let running = place.start().await.unwrap();
        assert_eq!(public(&running).await["responses"], 0, "nor does a restart");
        let running = next_day(&place, running).await;
        let first = public(&running).await;
        assert_eq!((&first["responses"], &first["batches"]), (&47.into(), &1.into()));
        let privacy = first["privacy"].to_string();
        assert!(privacy.contains("the 22 responses") && privacy.contains("at most 5"), "{first}");
        assert!(first["days"].is_null());
        send(&running, &north[25..30]).await;
        let running = next_day(&place, running).await;
        assert_eq!(public(&running).await, first, "five more are not told");
        assert_eq!(running.results().await["responses"], 52);
        assert!(running.get("/report.html", TOKEN).await.1.contains("<title>"));
        assert!(running.get("/report.html", "guess").await.0.starts_with("HTTP/1.1 401"));
        // The end of the survey closes the last batch, if it is large enough.
        send(&running, &north[30..50]).await;
        let survey = Survey::read(&place.survey()).unwrap();
        let store = open_store(&survey, place.database.as_deref()).await.unwrap();
        store.close().await.unwrap();
        store.end().await;
        running.stop().await;
        let running = place.start().await.unwrap();
        running.results().await;
        assert_eq!(public(&running).await["responses"], 72);
        running.stop().await;
    }
    let place = Place::new(None, |_| {});
    let running = place.start().await.unwrap();
    assert!(running.get("/public.json", "").await.0.starts_with("HTTP/1.1 404"), "nothing is public unless it is said");
    running.stop().await;
}
