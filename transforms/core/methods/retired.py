"""The versions of methods that are not computed any more: what each computed, what replaced it, and its golden tables.

The code of one that a release had is in the tag of that release. A param that names one is refused.
"""

from __future__ import annotations

from slowwave.transforms.core.methods.method import RetiredMethod

RETIRED: tuple[RetiredMethod, ...] = (
    RetiredMethod(
        id="used/1",
        computed="Which answers rely on a memory in other words: on its most telling ones.",
        reason="Of long memories it found a tenth of the uses.",
        successor="used/2",
        last_release="0.1.0",
        golden={
            "used-1/used_memories": "e5da1802a93bd0e1ba315a70cebbfa5010a014e73703f2b13eae125440068d61",
        },
    ),
    RetiredMethod(
        id="used/2",
        computed="Which answers rely on a memory, or on a passage of a long one, in other words.",
        reason="It judged a memory by itself: on dialogues it was not made on it found one use in nine.",
        successor="used/3",
        golden={
            "used-2/used_memories": "f22acabf1a3d2180eaec6a8a7514f65a87179acefc94705381fc852a6fd9425c",
        },
    ),
    RetiredMethod(
        id="stated/1",
        computed="How sure the source of a preference or of knowledge makes of it (ALMA's rule).",
        reason="It knew one name of each type: `domain_knowledge` that a user stated had no confidence.",
        successor="stated/2",
    ),
    RetiredMethod(
        id="attempt/1",
        computed="Which outcomes are attempts: skips, cascades, cancellations and refusals are none.",
        reason="It knew no basis: an inferred outcome counted like a reported one.",
        successor="attempt/2",
        last_release="0.1.0",
        golden={
            "heuristic-1/counted_outcomes": "4a41fd6444a2b1ed4d3e4c36cf90af852d6845d34379b2a79ce733dfa905a22a",
            "heuristic-2/counted_outcomes": "db6157d6f86735db93a42f170e3c57df2139d62ae5475d4df5bcfcef0abf1db7",
        },
    ),
    RetiredMethod(
        id="error/1",
        computed="Which error messages are the same error.",
        reason="It fitted the systems it was written on, and others far less.",
        successor="error/2",
        last_release="0.1.0",
        golden={
            "heuristic-1/error_templates": "0795173a4c20f0823ca9a7a35f82ec1fde07f28e70f8066d665072afede271f6",
        },
    ),
    RetiredMethod(
        id="error/2",
        computed="Which error messages are the same error, told by the line that says what went wrong.",
        reason="It took failures of different tests, modules and tables for one error.",
        successor="error/3",
        golden={
            "error-2/errors": "d297e1217727a6f5fbab949a58c496524e18b4ad42ea5ae56266d747f7eb7fc7",
            "heuristic-2/error_templates": "0795173a4c20f0823ca9a7a35f82ec1fde07f28e70f8066d665072afede271f6",
        },
    ),
    RetiredMethod(
        id="heuristic/1",
        computed="How likely the next comparable attempt of a strategy succeeds, by evidence that fades.",
        reason="What was no longer tried could overtake what was, as evidence faded.",
        successor="heuristic/2",
        last_release="0.1.0",
        golden={
            "heuristic-1/anti_patterns": "6cd8a0a743872e0b52c4b992a3c00178c6ee35305b908e8901cce49758aa9326",
            "heuristic-1/counted_outcomes": "4a41fd6444a2b1ed4d3e4c36cf90af852d6845d34379b2a79ce733dfa905a22a",
            "heuristic-1/error_templates": "0795173a4c20f0823ca9a7a35f82ec1fde07f28e70f8066d665072afede271f6",
            "heuristic-1/forecast_fits": "a8be3250e3195a0e31754684954becc23b3aa5fdf31955b247545ac881a93184",
            "heuristic-1/heuristics": "156ce12c9e0e48414e98b9128c21e8adc487df2b37f2892feb290b29beac52da",
            "heuristic-1/scorecard": "0fb273a2cb32aa7aa301e163784c8b9abc3d4bcf23366156113dad5abbbbcca9",
            "heuristic-1/strategy_variants": "38ad5bdffcc597961c9b72bdf3dbec15663818f4c5ad12a3caaedf8063d4bbdf",
        },
    ),
    RetiredMethod(
        id="heuristic/2",
        computed="How likely the next comparable attempt of a strategy succeeds, so that old evidence keeps its order.",
        reason="Relatives outweighed a strategy's own record, and a project's constant error was not corrected.",
        successor="heuristic/3",
        golden={
            "heuristic-2/anti_patterns": "1391453b3ad7ac3fee9aba5a71e5ec5676f787ba1cdc98a025714b01796d32f3",
            "heuristic-2/counted_outcomes": "db6157d6f86735db93a42f170e3c57df2139d62ae5475d4df5bcfcef0abf1db7",
            "heuristic-2/error_templates": "0795173a4c20f0823ca9a7a35f82ec1fde07f28e70f8066d665072afede271f6",
            "heuristic-2/forecast_fits": "aff695ac8e0f095f91167d4e38113690df84e5a5d2b61916dc365ffe0133b924",
            "heuristic-2/heuristics": "05af1f54d06943c991ae5b15f90dd41fca26eec570ee604a85176243ce373ccf",
            "heuristic-2/scorecard": "d0690fca27d2e54575a6065ef8b880d21412575b930d3b1fe1cef7d3e89a41bd",
            "heuristic-2/strategy_variants": "1cacce1db9e5b8d2110dfe9b9ec66d0ed646db13239ad717703f79fa00bcd122",
            "heuristic-2/untried_strategies": "66b7d8732fa3952f9546ecd68cb9b518f40c86c5c18b560c49ae556c8f019ab7",
        },
    ),
    RetiredMethod(
        id="strategy_trend/1",
        computed="Whether a strategy's success changed in its last days.",
        reason="A trend changed its word with each look.",
        successor="strategy_trend/2",
        last_release="0.1.0",
        golden={
            "heuristic-1/heuristics": "156ce12c9e0e48414e98b9128c21e8adc487df2b37f2892feb290b29beac52da",
        },
    ),
    RetiredMethod(
        id="strategy_trend/2",
        computed="Whether a strategy's success changed in its last days, as two looks a week apart agree.",
        reason="A strategy that was not tried could be called stale or weakening a week too long.",
        successor="strategy_trend/3",
        golden={
            "heuristic-2/heuristics": "05af1f54d06943c991ae5b15f90dd41fca26eec570ee604a85176243ce373ccf",
        },
    ),
    RetiredMethod(
        id="scorecard/1",
        computed="How good the forecasts made on past Mondays were.",
        reason="It did not grade what was published, nor forecasts for untried strategies.",
        successor="scorecard/2",
        last_release="0.1.0",
        golden={
            "heuristic-1/scorecard": "0fb273a2cb32aa7aa301e163784c8b9abc3d4bcf23366156113dad5abbbbcca9",
        },
    ),
    RetiredMethod(
        id="anti_patterns/1",
        computed="Which strategies keep failing, by e-values and under a false discovery rate.",
        reason="A row could be open though its strategy was expected to succeed more often than not.",
        successor="anti_patterns/2",
        last_release="0.1.0",
        golden={
            "heuristic-1/anti_patterns": "6cd8a0a743872e0b52c4b992a3c00178c6ee35305b908e8901cce49758aa9326",
        },
    ),
    RetiredMethod(
        id="anti_patterns/2",
        computed="Which strategies keep failing, by e-values and under a false discovery rate.",
        reason="It called a task hard by the mean of the comparables, also where one strategy succeeds.",
        successor="anti_patterns/3",
        golden={
            "heuristic-2/anti_patterns": "1391453b3ad7ac3fee9aba5a71e5ec5676f787ba1cdc98a025714b01796d32f3",
        },
    ),
    RetiredMethod(
        id="strength/1",
        computed="How strong a memory is: evidence of its use, fading with three half-lives.",
        reason="It told `fades_at` further ahead than the log had watched any memory of the type.",
        successor="strength/2",
        last_release="0.1.0",
        golden={
            "strength-1/memory_health": "e2d8f48829cfe45636dfdce36a6d982ae4b3b2a41b20cf75f53a757f5dc9d0f7",
            "strength-1/scorecard": "3a73d818725077eed909adf8fc4f6d04088d9cd91120e6c906c0f8d4a280b5f6",
            "strength-1/strength_fits": "581ab23cc41afb4d8a5540c57805728d0d3d033c697260644b96bb78177ff12f",
        },
    ),
    RetiredMethod(
        id="memory_trend/1",
        computed="Whether a memory is used more or less than it was.",
        reason="What is older than the log and was never referenced in it was called new.",
        successor="memory_trend/2",
        last_release="0.1.0",
        golden={
            "memory_trend-1/memory_health": "8fdfe97dbd125cfc892a081703afef5cd9188785d6f8caa87e106da7ac539224",
        },
    ),
    RetiredMethod(
        id="verdict/1",
        computed="Whether a memory is to be kept, reviewed or let go, and why.",
        reason="It kept what is no longer active, and called every use a reference, whether quoted or not.",
        successor="verdict/3",
        last_release="0.1.0",
        golden={
            "verdict-1/memory_health": "b101631c161418631bfebd62b868e041eb28d283c44cacb18f7f4ff8f74f0df7",
        },
    ),
    RetiredMethod(
        id="verdict/2",
        computed="Whether a memory is to be kept, reviewed or let go, and why.",
        reason="It became verdict/3 before a release: what was hardly injected was never reviewed.",
        successor="verdict/3",
    ),
    RetiredMethod(
        id="verdict/3",
        computed="Whether a memory is to be kept, reviewed or let go, and why.",
        reason="It took every memory of ten injections without a found use for unused, however few uses are found.",
        successor="verdict/4",
        golden={
            "verdict-3/memory_health": "0b6ff6640c50216e14ca99bdcdc5c35516b0f4d24bcd86feaa0222ad21766ea4",
        },
    ),
    RetiredMethod(
        id="project_health/1",
        computed="Alarms of a project: shares of junk, duplicates and unused memories, beside what was usual.",
        reason="It raised no alarm for stale or leaked injections, and called two users' equal preferences duplicates.",
        successor="project_health/2",
        last_release="0.1.0",
        golden={
            "project_health-1/project_health": "d66f8b702a357bfd36b61ba4ef310181740124b4789aee641196f39379be40d9",
        },
    ),
    RetiredMethod(
        id="project_health/2",
        computed="Alarms of a project: shares of junk, duplicates and unused memories, beside what was usual.",
        reason="It took every memory of ten injections without a found use for unused, however few uses are found.",
        successor="project_health/3",
        golden={
            "project_health-2/project_health": "f8d1decea74c597c541ea169c6c40f8156e109a8796eb031a747e2a697f02f69",
            "project_health-2-shares/project_health": "84dfa7f6d49aca63bc4179af7414fdba984c93ce319d5343e3b227502f5d37cb",  # noqa: E501 - a digest
        },
    ),
    RetiredMethod(
        id="review_queue/1",
        computed="What waits for a person's word, and in which order.",
        reason="It proposed a rejected text again where another memory landed with it.",
        successor="review_queue/2",
        last_release="0.1.0",
        golden={
            "review_queue-1/review_queue": "65e822567b271c764e81cf23a305df52590174a7ef87e797f11c6eab67d48960",
        },
    ),
    RetiredMethod(
        id="review_queue/2",
        computed="What waits for a person's word, and in which order.",
        reason="It ranked candidates by sessions alone, so that talk and guesses came first.",
        successor="review_queue/3",
        golden={
            "review_queue-2/review_queue": "70aec11016f91fb1e6d9035c6b9b5d6e95cee012ff8a329bd49fe2982a000e40",
        },
    ),
    RetiredMethod(
        id="review_queue/3",
        computed="What waits for a person's word, and in which order.",
        reason="It proposed no extension of memories that expire.",
        successor="review_queue/4",
        golden={
            "review_queue-3/review_queue": "d59700cba2ff4b7e727ffaad33b9a260fa9fdfae8467355d3b5fdfda6bb1be97",
        },
    ),
    RetiredMethod(
        id="review_queue/4",
        computed="What waits for a person's word, and in which order.",
        reason="It ranked harm and ignored instructions behind whatever more sessions spoke for.",
        successor="review_queue/5",
        golden={
            "review_queue-4/review_queue": "2442ab12a74656e731995d678c263c8fccb9dd3275d64b678f9ee860747c79b1",
        },
    ),
    RetiredMethod(
        id="review_queue/5",
        computed="What waits for a person's word, and in which order.",
        reason="It took instructions whose words no answer repeats for ignored, also those that answers follow.",
        successor="review_queue/6",
        golden={
            "review_queue-5/review_queue": "7f075fc9fade99a5e7f256927f7e6a824cb75039bc110aa6621c0794402eed85",
        },
    ),
    RetiredMethod(
        id="forgetting/1",
        computed="Which memories may be archived, and by which rule or quota.",
        reason="What was superseded or invalid when it landed was never eligible, and so never planned.",
        successor="forgetting/2",
        last_release="0.1.0",
        golden={
            "forgetting-1/forgetting_audit": "8f891103822ade67b69a1aeef568c81e837927a18ba1a4dc113e20026ecb23f1",
            "forgetting-1/forgetting_plan": "c4a874758a8d69c7b90b0750f77be442cf1c136397201e0db9b1111247c99fcc",
            "forgetting-1/forgetting_quotas": "1b482f34d9af066a11288546d6d4ca33b1affc8606262b19f08f67b9a8427841",
        },
    ),
    RetiredMethod(
        id="forgetting/2",
        computed="Which memories may be archived, and by which rule or quota.",
        reason="What was never referenced or injected was never planned.",
        successor="forgetting/3",
        golden={
            "forgetting-2/forgetting_plan": "98efdf744ab2859263e125e26f5cb34c207b788779ab330a6dc91fbc4443ed21",
        },
    ),
    RetiredMethod(
        id="observe/1",
        computed="Which memories state one fact, and what contradicts or replaces what.",
        reason="What was only newer, and at odds by its words, counted as a change of state.",
        successor="observe/2",
        last_release="0.1.0",
        golden={
            "observe-1/contradictions": "b3cf0e6787741424590d0d21281f91a52ac0d04f29b0f11962ce465b2717e80a",
            "observe-1/merge_proposals": "f81b1b23e28f0520543c6e9d2b7916886ac101e9f2d3bd82a39af6cf0ea78d00",
            "observe-1/observations": "ef3ce0586e568c8eb9c795e8015ec6de5c03975d29b24c3b7bd476d706506502",
        },
    ),
    RetiredMethod(
        id="observe/2",
        computed="Which memories state one fact, and what contradicts or replaces what.",
        reason="It knew no later stages of one thing, and no steps of work.",
        successor="observe/3",
        golden={
            "observe-2/contradictions": "fbb8b3ce65ec27c26d857f949dbdb4b3cdca21e4d9e1aef34ab6dec84186e885",
            "observe-2/merge_proposals": "2d9069d3149394fdd2048519f2f3631090617795d322060e0a37c10d26581e24",
            "observe-2/observations": "550b9b1f0b59f6a44126ea36e58f67f7384c6091c45f5720b5a5091147a6e1b5",
        },
    ),
    RetiredMethod(
        id="observe/3",
        computed="Which memories state one fact, and what contradicts or replaces what.",
        reason="A plan was carried out several times, and code and intentions told of changes.",
        successor="observe/4",
        golden={
            "observe-3/contradictions": "fbb8b3ce65ec27c26d857f949dbdb4b3cdca21e4d9e1aef34ab6dec84186e885",
            "observe-3/merge_proposals": "2705d5081fd6ab3c4e43023bae937dbebc5cf44cf6402366f3d7a8f2f3d53a48",
            "observe-3/observations": "f335d5c4392965228ef0bbbfcea64145f13911b05a6f530f4a5e093927332bca",
        },
    ),
    RetiredMethod(
        id="observe/4",
        computed="Which memories state one fact, and what contradicts or replaces what.",
        reason="It kept apart what must be and what has to be.",
        successor="observe/5",
        golden={
            "observe-4/contradictions": "06b415ed6f04d3f814665a53a0a819598839d02e2257b232f3e6cc324e562451",
            "observe-4/merge_proposals": "336fa3f7a6dce0df70a2fe3cea1f330d556c78b89947535a3ed6d870aaa82f74",
            "observe-4/observations": "20ea2341160e176ad6c56f24f29e2a1540158d46512cbe1385037823a3d929bf",
        },
    ),
    RetiredMethod(
        id="observe/5",
        computed="Which memories state one fact, and what contradicts or replaces what.",
        reason="Rules for what prose tells found few changes, and of those outside lists fewer than 0.9 were right.",
        successor="observe/6",
        golden={
            "observe-5/contradictions": "55d67c10c15dc8ceb15a80a317a99a46382a8d46f37496f8a2f238a5afc0c55f",
            "observe-5/merge_proposals": "18b79601440476c5aab185dd9c1b74f1078d731ee63816e5550a7e73100b2dba",
            "observe-5/observations": "6d984d6c92aa2a9a2a79acb8017d10f316f92c8011880243b9a2ef326b4d8068",
        },
    ),
    RetiredMethod(
        id="curate/1",
        computed="What is to be done with new memories, and which mergers are proposed.",
        reason="Mergers were proposed within a type of memory only.",
        successor="curate/2",
        last_release="0.1.0",
        golden={
            "curate-1/curation_decisions": "bfaad8212e6672c7a02fa5d900346608de327804ac005e26aa57c4a749928fcd",
        },
    ),
    RetiredMethod(
        id="curate/2",
        computed="What is to be done with new memories, and which mergers are proposed.",
        reason="It kept apart what must be and what has to be, and an update needed no change of state.",
        successor="curate/3",
        golden={
            "curate-2/curation_decisions": "aae8b1a38df6ba3b3ce0c7c00e536f3f7ef78c5112241ac821af997ce36e03de",
            "curate-2/merge_proposals": "759f2668b8e4fe363a9496501b3d7763c423577e1dbc1feb342aa86cdbf76a84",
        },
    ),
    RetiredMethod(
        id="curate/3",
        computed="What is to be done with new memories, and which mergers are proposed.",
        reason="It read changes of state out of prose, as observe/5 did.",
        successor="curate/4",
        golden={
            "curate-3/curation_decisions": "2be106057fc5266f3e8ee3a430b3096649968f181216034578cabf54421dfe04",
            "curate-3/merge_proposals": "18b79601440476c5aab185dd9c1b74f1078d731ee63816e5550a7e73100b2dba",
        },
    ),
)
