"""Word classes that clauses are read with: closed classes, and open ones as far as they decide something."""

from __future__ import annotations

from typing import Final


def _set(text: str) -> frozenset[str]:
    return frozenset(word.replace("_", " ") for word in text.split())


KIN: Final = _set(
    """sister brother mother father mom mum mama dad daddy mommy wife husband spouse son daughter girlfriend boyfriend
    partner fiance fiancé fiancee fiancée grandmother grandfather grandma grandpa granny nana aunt auntie uncle
    cousin niece nephew friend roommate flatmate boss neighbor neighbour colleague coworker co-worker stepfather
    stepmother stepdad stepmom stepson stepdaughter mother-in-law father-in-law sister-in-law brother-in-law
    son-in-law daughter-in-law twin grandson granddaughter godmother godfather ex ex-husband ex-wife manager
    mentor baby kid child hubby missus sis bro toddler"""
)
KIN_MANY: Final = _set(
    """sisters brothers parents kids children sons daughters grandparents grandkids grandchildren friends cousins
    nieces nephews siblings family fam twins in-laws relatives colleagues coworkers co-workers roommates
    neighbors neighbours uncles aunts folks boys girls teammates classmates buddies pals team"""
)
KIN_BEFORE: Final = _set(
    """older elder younger little big eldest youngest oldest baby best close good twin late new former old dear
    childhood step first second middle longtime"""
)
RELATED: Final = _set(
    """wife husband spouse partner fiance fiancé fiancee fiancée girlfriend boyfriend son daughter sister brother twin
    grandson granddaughter stepson stepdaughter niece nephew hubby"""
)
"""Kin whom not everybody has: that one has them is worth a fact by itself."""

ADVERBS: Final = _set(
    """really absolutely also just actually currently now still truly totally recently finally already even both
    certainly definitely especially personally simply mostly usually all always generally originally only so
    sure quite particularly genuinely officially presently never often rarely sometimes seldom ever once then
    again too very super pretty kinda sorta basically literally honestly hardly barely almost nearly mainly
    lately first initially eventually suddenly quickly slowly immediately soon later constantly regularly
    occasionally frequently fully completely deeply extremely incredibly highly happily luckily sadly
    accidentally secretly temporarily temporally normally typically consistently successfully seriously
    desperately firmly primarily each gradually briefly fortunately unfortunately obviously clearly naturally
    apparently probably maybe perhaps possibly not"""
)
DROPPED: Final = _set(
    """really absolutely also just actually currently now truly totally recently finally already even certainly
    definitely especially personally simply so sure quite particularly genuinely officially presently then again
    very super pretty kinda sorta basically literally honestly lately eventually suddenly soon later
    extremely incredibly highly luckily sadly fortunately unfortunately obviously clearly naturally do did does
    each both all seriously desperately initially"""
)
"""Adverbs before a verb that a fact does without."""
DOUBTFUL: Final = _set(
    """probably maybe perhaps possibly almost nearly hardly barely apparently sometimes kinda sorta ever"""
)
NOT: Final = _set("not never n't hardly barely no")

BEFORE_CLAUSE: Final = _set(
    """and but so because cause 'cause cuz coz plus then though although yet well oh ah hi hello hey yes yeah yep no
    nope actually honestly btw currently now nowadays today yesterday lately recently anyway anyways ok okay
    haha lol fyi besides also still luckily unfortunately fortunately sadly finally eventually meanwhile however
    or wow man first secondly basically personally tonight tomorrow afterwards later since_then normally usually
    overall after_that hmm um uh ugh yay tbh again thankfully once growing_up"""
)
"""Words after which a main clause may begin."""
LEAD_OUT: Final = _set(
    """if unless whether suppose supposing imagine pretend wish as though when whenever until till while before after
    whose which"""
)

PREPOSITIONS: Final = _set(
    """in on at with for from by about into after before during near around over through without as of to onto upon
    across along behind between among against under inside outside towards toward via per off up down out within
    throughout since until like besides despite"""
)
CUTS: Final = _set(
    """in on at with for from by about into after before during near around over through without and or to who that
    which onto across along behind between among against inside outside towards toward via within throughout
    since like despite & as where"""
)
"""Words before which what is too long may end."""
ENDS: Final = _set(
    """but because cause 'cause cuz coz although though whereas if unless which plus lol haha hehe lmao tbh so yet
    while until however except whenever wherever what why"""
)
"""Words before which a clause ends."""
PRONOUNS: Final = _set(
    """i we it he she they you that this there these those everyone everybody someone nobody who it's that's"""
)
YOU: Final = _set("you your yours yourself yourselves u ur y'all ya you're you've you'll you'd")
THIRD: Final = _set(
    """it its he him his she her hers they them em 'em their theirs itself himself herself themselves one ones"""
)
REASONS: Final = _set("because 'cause cause cuz so when where while whenever")
"""Words before a clause of the speaker that belongs to the statement before it."""
DEICTIC: Final = _set("this that these those here there it one ones such same so")
NO_END: Final = _set(
    """a an the my our their your his her its to of and or & in on at with for from by about into as than very so such
    some any every each no not this that these those who which i we they he she is are was were be been being am
    has have had do did does will would could can should may might must if when while because but just really
    more most much many other another also i'm between during after before near around over through without per
    both even still until since like whose where what how why it's among"""
) | _set("""weren't wasn't isn't aren't don't didn't can't won't couldn't haven't hasn't doesn't""")
TRAILING: Final = _set(
    """too also though again now lately recently actually haha lol well as_well anyway already yet ago here there
    instead right ok okay honestly hopefully soon later either eventually together_now so far today tonight
    yesterday tomorrow finally really then even alone_though myself themself btw like literally
    definitely certainly probably maybe just still lmao hehe once ever first before after around about off on up
    down out in over at with for to of by from and or & basically obviously sure frankly overall mostly somehow"""
)
STRIPPED_LAST: Final = (TRAILING | {"anymore"}) - _set("in out off on up down over around first alone together once")

VAGUE: Final = _set(
    """thing things stuff lot lots time times way ways bit people something anything everything nothing someone
    anyone everyone day days kind kinds sort part point fact case one ones place places guy guys man couple few
    many much more most some any all every another other others same good great nice amazing awesome cool
    wonderful fun super really very such fantastic incredible lovely beautiful best better big little small new
    old own first last next long short different special important hard easy able sure right wrong real whole
    entire certain various several plenty tons bunch ton loads moment moments experience feeling idea ideas
    blast chance success step world life type question questions answer while enough yeah okay good_time week
    weeks month months year years today tonight yesterday tomorrow morning afternoon evening night weekend hour
    hours minute minutes knowledge simple interesting problem problems issue issues specific spot topics two
    three four five six seven eight nine ten hundred half pic pics photo photos picture pictures image snap
    video link message text topic conversation chat opportunity situation reason reasons sense"""
)
"""Nouns, adjectives and amounts that say nothing by themselves."""
FUNCTION: Final = _set(
    """a an the and or but if then so of to in on at for from with by about as is are was were be been being am do did
    does has have had having i you he she it we they me him her us them my your his its our their this that
    these those not no yes just very really too also there here what which who whom when where why how can could
    will would should may might must than into out up down over under again each own both only such through
    during after before while because until since ago near around without within across along behind between
    among against inside outside towards toward via per like off onto upon got get getting gets go going goes
    went gone make makes making made let's lets 's 're 've 'm 'll 'd herself himself myself themselves themself
    ourselves itself yourself always never often usually still now today even ever already yet & - – — become
    became think try trying tried start started starting keep keeping kept feel feeling felt want wants wanted
    need needs needed know knows knew come came coming take took taking taken use used using put see saw seeing
    seen look looking looked able back away together well much many something anything everything it's that's
    i'm who's don't didn't isn't aren't wasn't can't couldn't won't"""
)

_NOT_ADVERBS: Final = _set(
    """family early reply supply apply rely fly ally july italy belly jelly bully rally multiply comply imply assembly
    only_child lily holy ugly silly daily weekly monthly friendly lovely lonely lively costly likely elderly
    homely"""
)


def is_adverb(word: str) -> bool:
    """Whether a lower-cased word before a verb is an adverb."""
    return word in ADVERBS or (len(word) > 5 and word.endswith("ly") and word not in _NOT_ADVERBS)
