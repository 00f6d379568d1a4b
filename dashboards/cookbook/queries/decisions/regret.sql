-- question: How many archived memories were wanted within a month, beside what was predicted?
-- columns: archived_as – shadow: left active, so that every detected use is seen, archived: only restores and injections are;
--   rule – the rule, '' is all; memories_count (archivings) – whose window has passed; wanted_per_1000 – wanted of
--   1,000; wanted_per_1000_low – lower end of its interval; wanted_per_1000_high – upper end; predicted_per_1000 – by
--   need_30d; interactions_per_1000 – interactions that would have used one
SELECT
    archived_as,
    rule,
    memories_count,
    wanted_per_1000,
    wanted_per_1000_low,
    wanted_per_1000_high,
    predicted_per_1000,
    interactions_per_1000
FROM regret
ORDER BY archived_as DESC, rule
