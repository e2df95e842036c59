"""The table of frames: which verb or construction gives which attribute, and how much it is worth to note.

What is not listed goes by its form (`BY_TENSE`): what was is `did`, what will be is `plans`, what is usual is `does`.
"""

from __future__ import annotations

from typing import Final

from embermem.languages.en.clauses.clause import Tense
from embermem.languages.en.clauses.words import _set

BY_TENSE: Final = {
    Tense.PAST: "did",
    Tense.PERFECT: "did",
    Tense.PAST_PROGRESSIVE: "did",
    Tense.USED: "did",
    Tense.PASSIVE: "did",
    Tense.WAS: "did",
    Tense.PERFECT_PROGRESSIVE: "does",
    Tense.PROGRESSIVE: "does",
    Tense.PRESENT: "does",
    Tense.IS_DONE: "does",
    Tense.IS: "feels",
    Tense.HAS_BEEN: "does",
    Tense.CANNOT: "does",
    Tense.FUTURE: "plans",
    Tense.WISH: "would_like_to",
}

BY_VERB: Final = {
    "own": "owns", "value": "feels", "miss": "feels", "admire": "feels", "believe": "feels",
    "fear": "feels",    "dread": "feels", "trust": "feels", "appreciate": "feels", "support": "feels",
}  # fmt: skip
"""Attributes of verbs in the present, by their base."""

TASTES: Final = _set("like love enjoy adore cherish treasure hate dislike detest loathe despise prefer avoid refuse")
"""Verbs whose present the rules of tastes read; what they refuse is none here either."""

TO_INFINITIVE: Final = {
    "want": "would_like_to", "hope": "would_like_to", "wish": "would_like_to", "aspire": "would_like_to",
    "dream": "would_like_to",    "plan": "plans", "intend": "plans", "aim": "plans",
}  # fmt: skip
"""Attributes of present verbs whose infinitive is the value: "want to visit Rome"."""

SILENT: Final = _set(
    """say tell ask mean guess know hear agree understand suppose bet wonder remember forget notice seem sound appear
    promise apologize apologise recommend suggest swear doubt imagine assume expect deserve care matter see look
    thank let call warn remind think happen wait refuse answer reply admit mention explain repeat respond chat
    realize realise come stop welcome excuse wish mind trust send speak point tend fall lie sit stand hold bring
    lay laugh smile cry type mess click show share depend check describe confirm propose accept figure confess
    observe please beg pardon spot select note question press stare watch_out suspect regret picture"""
)
"""Verbs that say nothing of a life, or only of the talk; some are read in frames of their own."""
HEAVY: Final = _set(
    """marry move graduate adopt win lose quit buy sell start join finish complete pass fail break publish found open
    launch apply volunteer sign create build paint write learn teach donate organize organise host attend
    perform travel visit enroll enrol register earn receive achieve retire divorce diagnose injure hurt sprain
    fracture recover hire fire promote invest renovate decorate plant bake design develop record release compete
    participate practice practise train climb hike camp ski surf kayak explore celebrate reconnect rescue foster
    interview present book schedule cancel postpone raise collect sew knit draw sketch photograph compose study
    immigrate emigrate relocate inherit purchase enlist serve work coach mentor own commit decide switch
    encourage inspire audition dance bear nominate cook garden run swim play read meet grow rent save name
    research prepare expand remodel restore repair direct produce film act landed advocate fight battle struggle
    suffer survive overcome undergo mourn bury elect award pursue consider focus specialize collaborate network"""
)
"""Verbs of life events, achievements, work and activities with an object."""
LIGHT: Final = _set(
    """go have get do make take give put use need try keep feel find be become leave want like end turn set pick pull
    bring hang love think enjoy send"""
)

FEELING: Final = _set(
    """passionate proud afraid scared terrified interested obsessed addicted grateful thankful excited nervous worried
    stressed anxious tired sick determined committed ready lucky blessed inspired happy sad disappointed
    responsible busy involved close keen fond good bad great into eager dedicated devoted concerned confident
    curious crazy fascinated hopeful jealous ashamed embarrassed upset frustrated motivated drawn used new
    pumped stoked psyched thrilled honored overwhelmed hooked careful particular picky serious open comfortable
    uncomfortable unhappy skeptical allergic sensitive intolerant prone attached loyal bored delighted fluent
    low down lonely swamped exhausted burned burnt heartbroken devastated glad pleased fortunate privileged
    satisfied torn mad angry relieved optimistic"""
)
"""Adjectives of attitude; they need what they are about."""
FEELING_PREPOSITIONS: Final = _set("about of for to with in at by from on over that")
LASTING: Final = _set(
    """pregnant unemployed jobless self-employed bilingual trilingual left-handed ambidextrous gay lesbian bisexual
    queer trans transgender nonbinary non-binary widowed homeschooled dyslexic autistic neurodivergent
    nearsighted sober bald blind deaf disabled"""
)
"""Adjectives that say enough alone."""
ROLES: Final = _set(
    """fan member parent mom mum mother dad father student beginner owner volunteer veteran survivor believer supporter
    grandparent grandmother grandfather newbie graduate immigrant caregiver founder co-founder captain freshman
    sophomore junior senior vegetarian vegan homeowner collector patient single-parent widow widower twin mentor
    foodie bookworm perfectionist introvert extrovert refugee orphan expat"""
)
"""What "I'm a …" says besides a job."""
PASSING: Final = _set("off out to there into now complicated tired frustrated confused annoyed worried lost stuck")
"""After "I'm heading" or "I'm getting" what is so only at the moment."""
EVENTS: Final = _set(
    """meeting interview exam test appointment audition competition party date trip deadline wedding presentation show
    gig concert performance tournament surgery operation convention conference event game match race flight
    reservation screening recital checkup workshop hearing class final finals"""
)
"""What somebody has at a time."""
AILMENTS: Final = _set("fever cough cold flu headache stomachache hangover sore_throat toothache")
"""What somebody has for a while."""
OWNABLE: Final = _set(
    """car bike bicycle motorcycle motorbike house home apartment flat condo cabin cottage boat van truck guitar piano
    violin cello drum drums ukulele camera laptop computer tablet phone telescope sofa desk garden farm business
    shop store bakery cafe restaurant studio company blog podcast channel website collection necklace ring watch
    tattoo console playstation xbox switch kindle printer treadmill library greenhouse pool"""
)
ARRANGED: Final = _set(
    """go come leave head move put host meet visit fly perform travel attend start take have get see run join return
    drive open launch do"""
)
"""Verbs whose progressive with a time to come tells a plan."""
MOMENTARY: Final = _set("skip scroll attach paste copy upload download load wonder ask write_to reply hold sit stand")
"""Verbs whose progressive tells what is done at the moment of speech."""
ARRANGING: Final = _set(
    """book schedule reserve arrange plan register postpone confirm rent reschedule enroll enrol pencil"""
)
"""Verbs in the past whose time to come is that of what was arranged."""
DECISIONS: Final = _set(
    """go use choose stick pick book pause skip add proceed postpone prioritize schedule reserve focus start look plan
    set move continue finish put keep combine separate split replace swap avoid aim"""
)
"""What "let's …" decides."""
INSTRUCTIONS: Final = _set("pause postpone suspend cancel skip book schedule reserve put prioritize exclude avoid")
"""What "please …" decides."""
RULED: Final = {
    "live": None,
    "reside": None,
    "bear": None,
    "work": _set("as for in at"),
    "name": None,
    "mean": None,
    "belong": None,
}
"""Verbs that the rules of facts read, and the words after them: None for any; what they refuse is none here either."""
