"""Verbs as agents use them, and the forms of English words that no rule of spelling gives."""

from __future__ import annotations

from slowwave.transforms.language.lexicon import word_map, words

VERBS = words(
    "abort accept access add adjust aggregate alert align allocate allow analyze answer append apply approve "
    "archive ask assert assign attach audit avoid await backtrack batch begin benchmark bisect bite block "
    "brainstorm break bring browse build bump bundle buy cache calculate call cancel capture catch change chase "
    "check choose chunk clarify classify clean clear click clone close cluster collapse collect combine come "
    "comment commit compare compile complete compress compute configure confirm connect consolidate consult consume "
    "contact contain continue control convert copy correct count crawl create critique cut debug decide decline "
    "decode decompose decouple decrease deduplicate defer define delay delegate delete deploy derive describe "
    "design detect determine develop diagnose disable discard disconnect discuss divide do download draft draw "
    "drive drop dump duplicate eat edit embed emit enable encode encrypt enforce enhance ensure enter enumerate "
    "escalate escape establish estimate evaluate examine execute exit expand expect explain explore export expose "
    "extend extract fail fetch fill filter find finish fix flag flatten flush follow force forget format forward "
    "freeze gather generate get give go grade grant grep group guess halt handle help hide hold ignore implement "
    "import improve include increase index infer ingest initialize inject inline insert inspect install instrument "
    "integrate interrupt introduce invalidate invert investigate invoke isolate iterate join jump keep kill know "
    "label launch lead leap learn let limit link lint list listen load lock log lookup lower maintain make manage "
    "map mark mask match measure meet memoize merge migrate minimize mock modify monitor mount move mutate narrow "
    "navigate normalize notify observe obtain omit open optimize orchestrate order organize outline override "
    "overwrite paginate parallelize paraphrase parse partition pass patch pause pay perform permit pin plan play "
    "poll post postpone prefer prefetch prepare preserve prevent print prioritize probe process produce profile "
    "promote prompt propose protect prove provide prune publish pull purge push query queue quit quote raise rank "
    "read rebase rebuild rebut recalculate receive recheck recompute record recover recur recycle redact redeploy "
    "reduce refactor refer refine reflect refresh register reject release reload remap remember remove rename "
    "render reorder repair repeat replace replan reply report reproduce request rerun rescan reset resolve respond "
    "restart restore restrict resubmit resume retain retrieve retry return reuse revert review revise rewrite "
    "rollback rotate route run sample sanitize save scale scan schedule score scrap scrape screen search seed seek "
    "select send separate sequence serialize serve set setup shard share shorten show shuffle shut sign simplify "
    "simulate skip sleep slice solve sort spawn specify split squash stage standardize start stop store stream "
    "strip study submit subscribe substitute suggest summarize supersede supervise swap switch sync tag take teach "
    "tell terminate test think throttle throw tokenize touch trace track train transform translate traverse trigger "
    "trim truncate try tune understand undo uninstall unlock unpack unwrap update upgrade upload use utilize "
    "validate verify view visit vote wait wake walk warm warn watch wipe work wrap write zip "
    "adopt backup checkout erase locate login logout rephrase rerank reword rollout segment "
)
"""Base forms. Words that are nouns first and foremost (name, type, version, output) are left out."""

DOUBLING_VERBS = words(
    "admit begin cancel channel commit control debug defer equip forget format label marshal model occur offset "
    "omit permit prefer preset recur refer regret remap replan rerun reset resubmit signal submit total transmit "
    "travel tunnel unplug untar unwrap unzip "
)
"""Of more than one syllable, with a doubled last consonant before -ed and -ing."""

IRREGULAR_FORMS = word_map(
    "analyses=analysis apis=api axes=axis bases=base began begun=begin bit bitten=bite broke broken=break "
    "brought=bring built=build bought=buy caches=cache caught=catch children=child chose chosen=choose came=come "
    "criteria=criterion databases=database did done=do drawn drew=draw driven drove=drive ate eaten=eat feet=foot "
    "forgot forgotten=forget froze frozen=freeze got gotten=get gave given=give gone went=go halves=half hid "
    "hidden=hide held=hold hypotheses=hypothesis indexes indices=index kept=keep knew known=know leaves=leaf "
    "learnt=learn lives=life made=make men=man matrices=matrix meant=mean met=meet mice=mouse overridden "
    "overrode=override paid=pay people=person quizzes=quiz rebuilt=rebuild reran=rerun rewritten rewrote=rewrite "
    "ran=run said=say sought=seek sent=send shaken shook=shake showed shown=show spoke spoken=speak sped=speed "
    "spent=spend stole stolen=steal taken took=take taught=teach told=tell threw thrown=throw teeth=tooth "
    "understood=understand undid undone=undo vertices=vertex woke=wake wolves=wolf women=woman written wrote=write "
)

UNINFLECTED = words(
    "across address afterwards alias always analysis anything as athens atlas aws axios bedding being besides bias "
    "biased bing bleed breed bring building bus business canvas ceiling chaos chess cling cookies corpus cosmos css "
    "deed devops ding dns downwards during economics ethos evening everything feed finale fling fred gas gcs greed "
    "hers his https hundred indeed ios james jenkins js keras kindred king kubernetes kudos lens less locale logos "
    "macos mars mathematics meeting ming minus mlops mongoose morale morning movies naked nats need news nothing "
    "numpy offspring ops os ours pandas paris pathos perhaps physics ping plus postgres princess pudding rails "
    "rationale red redis ring rookies sacred sas seed series settings sibling sing sling something sometimes sops "
    "species speed spring status sting string success swing ted texas theirs thing things thus tls towards ts "
    "unless upwards versus wedding weed wellbeing whereas windows wing wring yes zombies "
    "batchwise likewise otherwise stepwise "
)
"""Words that only look inflected, and names that end in s."""
