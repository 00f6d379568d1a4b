-- question: What is known of one memory?
-- columns: memory_id – the memory; project – its project, '' is none; agent – its agent, '' is none; user_id – its user;
--   scope – agent, project or global, as stated; category – kind of preference; domain – field of knowledge; source –
--   how it came to be known; tags – its tags; stated_confidence (0-1) – what its source is worth; memory_type –
--   its type; status – its state, NULL was never landed; expires_at (UTC) – from then on it is not eligible; content – its text; created_at (UTC) – its first change;
--   verdict – keep, review, forget, harmful, unproven or inactive; reasons – why, with the figures; trend – of its use;
--   strength (0-1) – how much of its evidence is left; strength_state – its band; strength_forecast (0-1) – its
--   strength 7, 30, 90, 180 and 365 days later if nothing refers to it; half_life_days (days) – how fast it fades;
--   fades_at (UTC) – the first midnight on which it is forgettable; need_30d (probability) – at least one reference in
--   30 days; need_if_active (probability) – the same if the project is as active as it was; eligible_count
--   (interactions) – could have used it; injected_count (interactions) – were given it; stale_injected_count (interactions)
--   – of them when it was superseded, invalid or expired; last_stale_injected_at (UTC) – the last of these; stale_hours
--   (hours) – from when it became so to the last of these; echoed_count (interactions) –
--   answers that quote its first words; used_count (interactions) – answers that use it in other words, a minimum;
--   used_expected (interactions) – expected to, found or not; used_expected_low (interactions) – lower end of its 90 %
--   interval; used_expected_high (interactions) – upper end; injected_use_expected (interactions) – of used_expected
--   those that were given it; detectability (0-1) – how likely a use of it is found; use_state – used, not_used,
--   undetectable or unproven; cited_count (interactions) – answers that name it themselves, part of no other count; followed_count
--   (interactions) – answers that do what it says, by a check that can tell; not_followed_count (interactions) – that do
--   not; followed_low (0-1) – lower end of the 90 % interval of the share that does, NULL: none was checked;
--   followed_high (0-1) – upper end; reference_count
--   (interactions) – quoted or used; first_referenced_at (UTC) – the first of them;
--   last_referenced_at (UTC) – the last of them; stated_references (references) – as the store it comes from counted,
--   part of no other count; stated_last_referenced_at (UTC) – the last of those; confirmed_count (interactions) – referenced in attempts that
--   succeeded; contradicted_count (interactions) – referenced in attempts that failed: not evidence that it is false;
--   contradicted_expected (interactions) – of these uses, failures expected without it; reinforced_confidence (0-1) –
--   initial confidence plus a step per quote; confidence (0-1) – how its uses ended beyond what was expected, .5 is no
--   difference; confidence_low (0-1) – lower end of its 90 % credible interval; confidence_high (0-1) – upper end; lift
--   (difference of shares) – observed minus expected success of the interactions that had it, drawn towards the mean of all
--   memories of its basis; lift_low (difference of shares) – lower end of its 90 % interval; lift_high (difference of shares) – upper end; lift_basis – randomised,
--   cutoff, same_task or matched: what the lift means; lift_detectable (difference of shares) – smallest lift that its
--   own interactions would show; lift_q_value (0-1) – false discovery rate at which it differs from 0; lift_note – why no lift is
--   shown; is_harmful – lowers success beyond chance; lost_successes (attempts) – lost to it; importance (0-1) – as its
--   owner said; pinned – never to be forgotten; is_held – on hold; review_value (successes per minute) – expected loss
--   that a minute of looking avoids; changed_at (UTC) – its newest change; changed_by – who said that, NULL is not said;
--   changes_count (changes) – all of them; as_of (UTC) – what was known before this is shown
-- params: memory_id
-- NULL is not known. The comments on memory_health (`slowwave inspect schema memory_health`) say more.
SELECT
    h.memory_id,
    h.project,
    h.agent,
    h.user_id,
    h.scope,
    h.category,
    h.domain,
    h.source,
    h.tags,
    h.stated_confidence,
    h.memory_type,
    h.status,
    h.expires_at,
    h.content,
    h.created_at,
    h.verdict,
    h.reasons,
    h.trend,
    h.strength,
    h.strength_state,
    h.strength_forecast,
    h.half_life_days,
    h.fades_at,
    h.need_30d,
    h.need_if_active,
    h.eligible_count,
    h.injected_count,
    h.stale_injected_count,
    h.last_stale_injected_at,
    h.stale_hours,
    h.echoed_count,
    h.used_count,
    h.used_expected,
    h.used_expected_low,
    h.used_expected_high,
    h.injected_use_expected,
    h.detectability,
    h.use_state,
    h.cited_count,
    h.followed_count,
    h.not_followed_count,
    h.followed_low,
    h.followed_high,
    h.reference_count,
    h.first_referenced_at,
    h.last_referenced_at,
    h.stated_references,
    h.stated_last_referenced_at,
    h.confirmed_count,
    h.contradicted_count,
    h.contradicted_expected,
    h.reinforced_confidence,
    h.confidence,
    h.confidence_low,
    h.confidence_high,
    h.lift,
    h.lift_low,
    h.lift_high,
    h.lift_basis,
    h.lift_detectable,
    h.lift_q_value,
    h.lift_note,
    h.is_harmful,
    h.lost_successes,
    h.importance,
    h.pinned,
    h.is_held,
    h.review_value,
    n.changed_at,
    n.changed_by,
    n.changes_count,
    h.as_of
FROM memory_health AS h
LEFT JOIN memories_now AS n USING (memory_id)
WHERE memory_id = $memory_id
ORDER BY memory_id
