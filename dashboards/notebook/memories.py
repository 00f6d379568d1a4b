"""A notebook over the published tables: `marimo edit dashboards/notebook/memories.py`, or run it as it stands."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="Slowwave: memories")


@app.cell
def imports():
    import os
    from pathlib import Path

    import altair as alt
    import duckdb
    import marimo as mo
    import polars as pl

    return Path, alt, duckdb, mo, os, pl


@app.cell
def intro(as_of, mo):
    mo.md(f"""
    # What the memories are worth

    Published tables, read-only, as of **{as_of:%Y-%m-%d %H:%M} UTC**. `slowwave inspect schema TABLE --format markdown`
    says what each column means; NULL is not known, and 0 was counted.
    """)
    return


@app.cell
def connection(Path, duckdb, os):
    # the link always leads to the newest publish: run this cell again to see it
    serving = Path(os.environ.get("SLOWWAVE_HOME", "data")) / "serving" / "current.duckdb"
    published = duckdb.connect(str(serving.resolve()), read_only=True)
    published.execute("SET TimeZone = 'UTC'")
    as_of = published.sql("SELECT max(as_of) FROM runs").fetchall()[0][0]
    return as_of, published


@app.cell
def verdicts(published):
    # DuckDB counts, Polars takes the frame
    verdicts = published.sql("""
        SELECT coalesce(nullif(project, ''), '(no project)') AS project, verdict, count(*) AS memories
        FROM memory_health
        WHERE status IS NOT NULL
        GROUP BY ALL
        ORDER BY ALL
    """).pl()
    return (verdicts,)


@app.cell
def verdicts_chart(alt, verdicts):
    verdicts_chart = (
        alt.Chart(verdicts, title="Memories by project and verdict")
        .mark_bar()
        .encode(
            x=alt.X("sum(memories):Q", title="memories"),
            y=alt.Y("project:N", title=None, sort="-x"),
            color=alt.Color("verdict:N"),
            tooltip=["project", "verdict", "memories"],
        )
    )
    verdicts_chart
    return (verdicts_chart,)


@app.cell
def first_use(pl, published):
    # two tables, joined by Polars: when a memory could first be used, and when that first happened
    now = published.sql("SELECT memory_id, memory_type, first_eligible_at, ended_at FROM memories_now").pl()
    health = published.sql("SELECT memory_id, injected_count, first_referenced_at FROM memory_health").pl()
    first_use = now.join(health, on="memory_id").with_columns(
        # what was used before it was active, as candidates are in no store, waited for nothing
        ((pl.col("first_referenced_at") - pl.col("first_eligible_at")).dt.total_hours() / 24)
        .clip(lower_bound=0)
        .alias("days_to_first_use")
    )
    return (first_use,)


@app.cell
def first_use_chart(alt, first_use, pl):
    first_use_chart = (
        alt.Chart(
            first_use.filter(pl.col("days_to_first_use").is_not_null()),
            title="Days from when a memory could be used to its first detected use",
        )
        .mark_bar()
        .encode(
            x=alt.X("days_to_first_use:Q", bin=alt.Bin(maxbins=30), title="days"),
            y=alt.Y("count():Q", title="memories"),
            color=alt.Color("memory_type:N", title="type"),
        )
    )
    first_use_chart
    return (first_use_chart,)


@app.cell
def use_by_week(pl, published):
    # each row of the history counts up to its day: what a day added is the difference to the row before
    counts = ["injected_count", "reference_count"]
    use_by_week = (
        published.sql("SELECT memory_id, day, injected_count, reference_count FROM memory_health_history")
        .pl()
        .sort("memory_id", "day")
        .with_columns(pl.col(counts) - pl.col(counts).shift().over("memory_id").fill_null(0))
        .group_by(pl.col("day").dt.truncate("1w").alias("week"))
        .agg(pl.col(counts).sum())
        .sort("week")
        .unpivot(counts, index="week", variable_name="what", value_name="interactions")
    )
    return (use_by_week,)


@app.cell
def use_by_week_chart(alt, use_by_week):
    use_by_week_chart = (
        alt.Chart(use_by_week, title="Memories injected, and found to be used, by week")
        .mark_line(point=True)
        .encode(
            x=alt.X("week:T", title="week (UTC, from Monday)"),
            y=alt.Y("interactions:Q", title="memories x interactions"),
            color=alt.Color("what:N", title=None),
        )
    )
    use_by_week_chart
    return (use_by_week_chart,)


if __name__ == "__main__":
    app.run()
