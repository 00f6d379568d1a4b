-- severity: fail
-- What is learned from or decides is counted, and what is counted was attempted: what is apart counts nowhere.
SELECT outcome_id, basis, is_attempt, is_counted, is_learned, is_deciding
FROM counted_outcomes
WHERE ((is_learned OR is_deciding) AND NOT is_counted) OR (is_counted AND NOT is_attempt)
