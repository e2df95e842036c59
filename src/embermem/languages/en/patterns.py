"""What people ask, say and write: questions, openings, quotations, orders, themes, values."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

from typing import Final

from embermem.core.patterns import regex
from embermem.core.sensitive import SecretWords
from embermem.core.types import Role
from embermem.languages.parts import Guards, Questions, Screening, Talk, ThemeWords, Values

QUESTIONS: Final = Questions(
    marks=("?",),
    several=r"\b(?:what|which) (?:[\w'-]+ ){0,2}?(?:kinds?|types?|sorts?|things|people|(?!does|goes|says|this|[\w]*ss\b)\w{2,}(?:[^s\W]s|ies))\b"
    r"|\b(?:what|where|who|whom) (?:(?:is|are|was|were|else) )?(?:has|have) (?!to\b)(?:[\w'-]+ ){1,4}?(?:been|done|made|seen|read|met|gone|had|written|bought|taken|given"
    r"|eaten|won|sung|drawn|gotten|\w+ed)\b"
    r"|\bhow many\b|\bboth\b|\b(?:all the|every one of|everything (?:about|that|I))\b|^\W*(?:list|name)\b"
    r"|\bwhat (?:have|has|had|do|did|else)\b.{0,40}\b(?:told|said|mentioned)\b",
    past=r"\b(?:did|was|were|had|when|yesterday|ago|remember|earlier|previously)\b"
    r"|\blast (?:time|week|month|year|night|spring|summer|autumn|fall|winter)\b"
    r"|\b(?:have|has)\b[^.?!]{0,40}\b(?:been|said|told|done|gone|seen|ever|mentioned)\b",
    continues=r"^\W*(?:and|but|so|or|then|also|plus|what about|how about|same for)\b"
    r"|^\W*(?:(?:and|but|so) )?(?:why|when|where|who|how(?: (?:much|many|long|often|old|far|come|so))?|which(?: one| ones)?"
    r"|what(?: for| else| then| time| colou?r)?|since when|until when|with whom|who with|where to|really)(?: not| again| exactly| then)?\W*$"
    r"|\b(?:instead|afterwards|the (?:day|week|month|year|time) (?:before|after))\b",
    points_back=r"\b(?:it|its|there|that|those|these|this|them|one|ones|the other|the others|the same|the first|the second|the latter|then)\b(?! (?:is|are|was|were|any|time|year|week|month)\b)",
    pronoun=r"\b(?:he|she|him|his|hers?|himself|herself|they|them|their|theirs|he's|she's|they're|both of them)\b",
    overview=r"\b(?:overview|summar\w+|recap\w*|highlights|biograph\w+|profile|life|lives|story|milestones|journey|who (?:is|am|are)|"
    r"who's|what's new|any news|up to date|up to speed|catch \w+ up|caught up|fill \w+ in|update|(?:going|gone) on|been up to|been doing)\b"
    r"|\b(?:know|remember|learnt|learned|tell|told|say|about)\b.{0,30}\babout\b|^\W*about\b|\bdescribe\b"
    r"|\bwhat\b.{0,30}\b(?:happen\w*|change[ds]?|do|did|done|know|remember|learnt|learned)\b|\bhow\b.{0,20}\b(?:been|changed|gone|going|doing)\b"
    r"|\b(?:events|moments|changes)\b",
    overview_words=r"\b(?:a|an|the|this|that|these|those|of|in|on|at|to|for|from|with|by|about|as|and|or|so|up|far|till|until|since|"
    r"during|over|through|throughout|between|within|is|are|was|were|be|been|being|am|has|have|had|having|do|does|did|done|doing|"
    r"can|could|would|will|should|please|i|me|my|mine|myself|you|your|yours|we|us|our|he|him|his|she|her|hers|they|them|their|it|its|"
    r"who|what|what's|who's|which|how|when|s|'s|all|any|anything|everything|something|some|thing|things|stuff|most|more|"
    r"main|major|key|big|biggest|important|significant|notable|recent|recently|latest|lately|new|news|current|currently|now|"
    r"today|past|last|previous|next|few|couple|several|first|whole|entire|general|generally|overall|brief|briefly|short|quick|quickly|"
    r"happen|happens|happened|happening|occurred|change|changes|changed|going|gone|go|on|doing|know|knows|known|remember|"
    r"remembers|learn|learnt|learned|tell|told|say|said|give|show|describe|explain|write|list|make|get|bring|catch|caught|fill|"
    r"overview|summary|summarise|summarize|summarised|summarized|recap|highlights|biography|profile|update|updates|speed|date|"
    r"life|lives|story|person|people|background|journey|milestones|events|event|moments|moment|situation|years|year|months|month|"
    r"weeks|week|days|day|time|times|spring|summer|autumn|fall|winter|ago|early|late|earlier|later|memory|memories|conversations?|chats?|"
    r"talked|talks?|user|recall)\b",
    days_words=r"\b(?:discuss\w*|mention\w*|spend|spent|plan|plans|planned|planning|scheduled|talking|chat\w*|speak|spoke|spoken|wrote|written|exactly|"
    r"actually|again|morning|afternoon|evening|night|there|else|conversation|look|looked|agenda|calendar|sort|kind|was|about|earlier|get|got|just|back|thing|both|whole)\b",
    beside_day=r"\b(?:for|before|until|till|by|since|after|prior to|up to)\s(?:the\s)?(?:\w+,?\s)?§"
    r"|\b(?:the|our|my|your|his|her|their|an?|every)\s§\s(?=\w)|§\s(?:mornings|afternoons|evenings|nights)\b",
    character=r"\b(?:personalit(?:y|ies)|character traits?|traits|attributes|temperament|(?:kind|sort|type) of (?:person|man|woman)|interested in|interests|hobbies"
    r"|(?:am|is|are) (?:i|you|he|she|they|\w+) (?:like|into)\b|describe (?:me|my (?:self|personality))|recommend|suggest)\b",
    advice=r"\b(?:should|shall)\b|\b(?:you|please|can|could|would|^\W*) ?(?:recommend|suggest|advise|propose)\b|\b(?:any|some|an|your|need|of) (?:good |other )?(?:advice|ideas?|tips|inspiration|suggestions?|recommendations?)\b"
    r"|\b(?:good|nice|better|best|suitable|right) (?:idea|place|time|way|choice|gift|present|fit|restaurant|hotel|book|film|movie) (?:to|for)\b"
    r"|\b(?:what|where|which|how|who)(?:'s| is| are| can| could| would| do| might)?\b[^.?!]{0,40}\b(?:could|can|might|would) (?:i|we|you)\b"
    r"|\bhelp (?:me|us) (?:\w+ ){0,2}(?:plan|choose|pick|decide|find|think|write|prepare|organi[sz]e|order|shop|pack)\b"
    r"|\b(?:can|could|may|might) (?:i|we)\b|\blet's\b|\b(?:i|we)(?:'d| would) (?:like|love|want)\b|\b(?:i'm|i am|we're|we are) (?:\w+ ){0,2}(?:looking for|planning|thinking (?:of|about)|going to|about to)\b"
    r"|\bwhat\b[^.?!]{0,40}\b(?:could|can|may(?! \d|[,?]| of)|would)\b"
    r"|^\W*(?:please )?(?:write|draft|propose|find|plan|pick|choose|book|order|cook|prepare|design|compose|organi[sz]e|arrange|reserve|put together|make|help|give me)\b"
    r"|\bsurprise (?:me|us)\b|\bany (?:good|nice)\b",
)

TALK: Final = Talk(
    shift=r"(?:(?:oh|so|ok|okay|well|and|but|hey|haha)\W+)?(?:by the way|btw|anyway|anyways|on another note|on a different note|changing the subject"
    r"|change of (?:topic|subject)|new (?:topic|question)|unrelated|off[- ]topic|something else|another (?:question|thing|topic)"
    r"|different (?:question|topic)|speaking of something else|good morning|hello again|hi again)\b",
    back=r"(?:(?:and|so|but|yes|yeah|no|ok|okay|oh|wow|haha|well|thanks|really|right|sure)\W+){0,2}(?:that|this|it|it's|its|that's|those|these|they|them|he|she|there"
    r"|why|how (?:come|so)|what about|how about|which one|both|neither|same|me too|exactly|agreed|then|tell me more|go on|because)\b",
    small_talk=r"(?:hi|hello|hey|thanks|thank you|you're welcome|wow|great|sounds|bye|good (?:morning|night|evening)|nice|sure|of course|ok|okay|no problem|certainly|i apologi[sz]e|(?:unfortunately, )?as an ai|let me know|congrat\w*)\b",
    leads=r"(?:however|additionally|furthermore|moreover|also|ultimately|overall|therefore|thus|hence|so|well|but|yeah|yep|yes|plus|oh|right|actually|honestly|anyway|hmm|in addition), |(?:and|but) ",
    me=r"\b(?:i|my|me|mine|myself|we|our|us|ours|ourselves)\b",
    you=r"\byou(?:r|rs|rself|rselves)?\b",
    you_signs=("you",),
    my_words=r"\b(?:I|I'm|I've|my|we|our)\b",
    courtesy=frozenset(
        "absolutely agree agreed amazing appreciate awesome best bet bye care congrats congratulations cool definitely enjoy exactly excited "
        "fantastic fun glad good goodbye great happy haha hope hug incredible interesting keep kind kindness lol love lovely luck mean means "
        "morning nice night perfect proud right see share sharing sorry sound sounds support sweet take talk totally true welcome wonderful word words".split()
    ),
    parts={
        "user": Role.USER, "human": Role.USER, "assistant": Role.ASSISTANT, "ai": Role.ASSISTANT, "bot": Role.ASSISTANT,
        "agent": Role.ASSISTANT, "system": Role.SYSTEM, "developer": Role.SYSTEM, "tool": Role.TOOL,
    },
    nobody=frozenset(
        "user human me you customer client speaker assistant ai agent bot chatbot model gpt chatgpt system tool default".split()
    ),
)  # fmt: skip

FIRST_PERSON: Final = regex(
    r"\b(?:[Ii](?:m|ve|d)?|[Ff]or me|[Nn]ot|[Nn]othing with|[Nn]ever|[Dd]on'?t|[Cc]an'?t|[Hh]ate|[Pp]refer"
    r"|(?:[Ss]ick|[Tt]ired|[Ff]ed up) (?:of|with)|[Nn]o interest|[Mm]y|[Ww]e|[Oo]ur|[Cc]alls?|[Tt]his is)\b|\b[Aa]s an? "
)
SCREENING: Final = Screening(
    quoted_speaker=r"\b(?:i|i['’]?m|my|me|we|our|mine)\b",
    whole=r"\.\s*not[.!]|\b(?:translat(?!ors?\b)|proofread|paraphras|rephras|rewrit|role-?\s?play|lyric|just kidding|i'?m kidding|only joking"
    r"|i'?m joking|i am joking|april fool|in character|stay in role|(?<!always )correct (?:this|my|the)"
    r"|(?:check|fix|improve) (?:this|my|the) (?:grammar|sentence|text|english|paragraph|email|essay)|summari[sz]e(?:\s*[:\"]| (?:this|the))"
    r"|fill in the (?:blank|gap)s?|let'?s play\b.{0,3} you(?:'re| are)|grammar of|(?:is|are) (?:this|that|the following|my|these) (?:\w+ )?(?:sentence|phrase|grammar|wording|english|paragraph|text)s?\b"
    r"|does (?:this|the following) (?:\w+ )?(?:sentence|phrase|sound|read)|which (?:sentence|phrase) is|example sentences?|how (?:do|would|can) (?:you|i) say|dear (?:sir|madam|hiring|[a-z]\w+,)|sincerely|(?:best|kind|warm) regards"
    r"|yours (?:truly|faithfully)|cover letter|once upon a time|for my (?:novel|story|character)|my character|i kid, i kid|(?:i'?m|i am) (?:an? )?(?:\w+ )?(?:ai (?:assistant|model|language model)|(?:large )?language model|chatbot|virtual assistant)"
    r"|you are an? (?:\w+[ -]){0,3}(?:assistant|expert|editor|writer|chatbot|tutor|copywriter|specialist|bot|model)|(?:act|answer|respond|reply|behave|speak) as (?:if you|an? |my )|i want you to act|ask (?:a|the) user"
    r"|reword|polish (?:this|my|it)\b|make (?:this|it) (?:sound|shorter|longer|more (?:formal|professional|concise|polite|friendly|natural|engaging|human))"
    r"|help me (?:to )?(?:reply|respond|answer) (?:to )?(?:this|the following|an? (?:e-?mail|message|letter)))"
    r"|\bi'?m an? (?-i:[A-Z]{4,})|(?:^|\n)subject: .{3,}\n|\n\s*(?:best|cheers|regards|warmly|love|thanks|thank you|many thanks|sincerely|yours|take care)(?: so much| again)?[,.!]?\s*\n\s*(?-i:[A-Z])[a-z]+(?: (?-i:[A-Z])[a-z]+)?\s*$",
    from_here=r"\b(?:(?<!i )(?<!to )(?<!just )pretend(?! to (?!be (?:an?|my)))|(?<!i )(?<!can )(?<!can't )(?<!to )(?<!we )imagine|(?<!i )(?<!we )(?<!they )(?<!you )suppose(?! to\b)|let'?s say|act as|you are now|(?:write|draft|compose|generate|create|make up) (?:me |us )?"
    r"(?:an?|the|some|my) (?:\w+ ){0,2}(?:story|poem|song|essay|letter|e-?mail|bio|speech|text|message|script|dialogue|post|tweet|blog|article|resume|cv|pitch|statement|testimonial|ad|advert|description|scene|toast|vow|vows|reply|response"
    r"|introduction|paragraph|rap|joke|review|profile|note|caption|monologue|section|part|description|abstract|proposal)|(?:the|this) following|(?:reply|respond) (?:to )?this\b|(?:rewrite|revise|edit|improve|shorten|expand|simplify|check|answer|complete|continue|finish|evaluate|analy[sz]e|classify|explain)(?: \w+){0,6}:\s|quote:|below (?:is|are|i (?:have |'ve )?(?:listed|pasted|copied|put))|(?:remember|remmeber|read|memori[sz]e|acknowledge) this (?:content|text|context|information|document|article)|this is (?:my|our|the) [^.\n]{0,40}\b(?:content|text|draft|transcript|copy|essay|bio|article|script)\b|here(?:'s| is) (?:a|an|the|what)"
    r" (?:\w+ ){0,2}(?:text|poem|story|letter|e-?mail|quote|essay|he|she|they|wrote|message|post))",
    lasting=r"\b(?:always|never|ever|from (?:now|today|here|this|tomorrow)|future|forward|(?:starting|as of) (?:now|today)|every|each|in all|until|till|through|for the (?:next|coming)|again|any ?more|any longer|stop|quit|(?:with|to|call|address|greet) (?:me|us)"
    r"|refer to me|use my|use \w+/|prefer|need|answers|replies|responses|messages|explanations|may|as a rule|by default|at all times|all the time)\b",
)

_WORK = r"\b(?:work\w*|job|jobs|career|employ\w*|profession\w*|occupation|hired|position|role|freelanc\w*|trained as|[Aa]s an?|I'm an?|I am an?|I was an?|be an?|became an?|becoming an?)\b"
_PLACE = r"\b(?:liv(?:e|es|ed|ing)|home|house|flat|apartment|based|resid\w*|mov(?:e|ed|ing)|relocat\w*|settled?|rent\w*|here in|stay(?:ing)? in|I'm in|I am in)\b"
_ORIGIN = r"\b(?:born|from|origin\w*|grew up|grown up|raised|hometown|home ?town|home country|native|roots?|childhood|citizen\w*|nationality|I'm|I am)\b"
_STUDY = r"\b(?:stud(?:y|ies|ied|ying|ent)|major\w*|degree|universit\w*|college|school|course\w*|class\w*|learn\w*|enrol\w*|graduat\w*|master'?s|bachelor'?s|phd|thesis|training)\b"
_TONGUE = (
    r"\b(?:speak\w*|language\w*|tongue|fluent\w*|native|bilingual|learn\w*|stud(?:y|ying)|practic\w*|practis\w*)\b"
)
_ILL = r"\b(?:ha(?:ve|s|d|ving)|I've|got|suffer\w*|diagnos\w*|live with|living with|my|ill|sick\w*|condition|disease|syndrome|disorder|been|am|I'm)\b"
_AGED = r"\b(?:born|birth\w*|years?|turn\w*|age|aged|old|I'm|I am)\b"
_STATING: Final = {
    "name": r"\b(?:names?|named|call(?:ed)?(?: me)?|I'm|I am|[Ii]t's|[Tt]his is)\b", "nickname": r"\b(?:nicknamed?|call(?:ed|s)?|go by|known as)\b",
    "gender": r"\b(?:man|woman|girl|boy|guy|lady|male|female|trans\w*|non-?binary|gender\w*|mother|father|mom|mum|dad|wife|husband|son|daughter|I'm|I am)\b",
    "age": _AGED, "birth_year": _AGED, "birthday": r"\b(?:birthday|born|bday)\b", "born_in": r"\bborn\b",
    "comes_from": _ORIGIN, "grew_up_in": r"\b(?:grew|grown|raised|childhood|kid|child)\b", "nationality": _ORIGIN,
    "lives_in": _PLACE, "works_as": _WORK, "works_at": _WORK, "works_in": _WORK, "studies": _STUDY, "studies_at": _STUDY,
    "graduated_from": r"\b(?:graduat\w*|degree|finished|alumn\w*|diploma)\b", "education": _STUDY,
    "marital_status": r"\b(?:married|marry|wedding|wife|husband|spouse|engaged|fianc\w*|single|divorc\w*|widow\w*|partner|boyfriend|girlfriend|dating|relationship|separated)\b",
    "native_language": r"\b(?:native|first language|mother tongue|grew up speaking|speak\w*)\b", "speaks": _TONGUE,
    "diet": r"\b(?:diet\w*|vegan\w*|vegetarian\w*|pescatarian|keto\w*|halal|kosher|paleo|eat\w*|meat|dairy|gluten\w*)\b",
    "allergic_to": r"\b(?:allerg\w*|intoleran\w*|react\w*|hives|anaphyla\w*)\b", "has_condition": _ILL,
    "health": _ILL, "has_pet": r"\b(?:pets?|dogs?|pupp(?:y|ies)|cats?|kittens?|bird|parrot|hamster|rabbits?|bunny|fish|turtles?|snake|lizard|horses?|adopted|named|our|my)\b",
    "religion": r"\b(?:religio\w*|faith|church|mosque|temple|synagogue|pray\w*|god|believe\w*|christian\w*|muslim|jew\w*|hindu\w*|buddhis\w*|catholic|atheist|I'm|I am)\b",
    "height": r"\b(?:tall|height|feet|foot|ft|cm|metres?|meters?)\b", "phone": r"\b(?:phone|call|number|cell|mobile|text)\b",
    "email": r"@", "pronouns": r"\b(?:pronouns?|they|them|she|her|he|him)\b", "budget": r"\b(?:budget\w*|spend\w*|afford\w*|cost\w*|up to|under|at most|max\w*|\$|euros?|dollars?)",
    "dislikes": r"\b(?:not|n't|never|hat(?:e|es|ed|ing)|dislik\w*|bor(?:ed|ing)|annoy\w*|stand|worst|awful|terrible|too)\b|n't\b",
    "drives": r"\b(?:driv\w*|car|truck|van|own|bought|have)\b",
}  # fmt: skip

_FIELDS = r"(?:name|profile|memory|memories|facts?|traits?|gender|home|address|occupation|job|birth ?year|age|persona)"
_CHANGE = r"(?:set|change|update|overwrite|replace|modify|mark|register|save|store|record|write|add|delete|erase|remove|forget|wipe|clear)"
GUARDS: Final = Guards(
        supposing=r"\b(?:if|unless|imagine|suppose|wish|dream\w*)\b",
    ironic=r"\b(?:yeah,? (?:right|sure)|oh,? (?:sure|great|fantastic|joy))\b",
    order=r"\b(?:ignore|disregard|override|forget|bypass)\s+(?:(?:all|everything|any|of|the|your|these|those|every)\s+){0,3}"
    r"(?:above|previous|prior|preceding|earlier|instructions?|rules|guidelines|prompts?|system)\b"
    rf"|\b{_CHANGE}\b[^.!?\n]{{0,40}}\b(?:the )?users?(?:'s)? {_FIELDS}\b"
    rf"|\b{_CHANGE}\b[^.!?\n]{{0,40}}\b(?:to|in|into|from|of) (?:your|the) (?:(?:long[- ]term|user) )?(?:memory|memories|profile|knowledge base|persona)\b"
    rf"|\b{_CHANGE}\b (?:all|every|everything in) (?:the |known |your )?(?:facts?|memor(?:y|ies)|traits?|knowledge)\b"
    r"|\b(?:system|developer) (?:prompt|message|note|override|instructions?)\b|\bnew instructions?\b"
    r"|\byou (?:must|should|have to|are to|will) (?:now )?(?:output|answer|reply|respond|return|print) (?:with|only|the following|exactly|json|in json)\b"
    r"|\b(?:answer|reply|respond|output) (?:only )?(?:with|in) (?:the following )?json\b",
    error=r"error\s*[:：]|(?:an?|internal)\b[^.]{0,30}\berror occurred|(?:i am |i'm )?sorry\b[^.]{0,20}\b(?:i|but|cannot|can't|unable)\b|i (?:cannot|can't|am unable|am not able)\b"
    r"|as an ai\b|could not get\b|no response\b|request timed out|rate limit|(?:none|null|n/?a|nil|undefined|string|summary|unknown|empty)\W*$"
    r"|general conversation segment",
    nothing=r"none|null|nil|n/?a|nothing|undefined|unknown|unspecified"
    r"|not (?:mentioned|specified|known|stated|given|provided|available|applicable)",
    genders={
        "female": "female", "woman": "female", "girl": "female",
        "male": "male", "man": "male", "boy": "male", "guy": "male",
    },
    female=r"\b(?:female|woman|girl|lady|mother|mom|mum|mommy|wife|daughter|girlfriend)\b",
    male=r"\b(?:male|man|guy|boy|father|dad|daddy|husband|son|boyfriend)\b",
    reporting="say said tell told talk discuss discussion mention ask answer reply respond explain describe express share"
    " conversation conversations chat chats message messages topic summary talks speak report state suggest offer agree"
    " note page update plan want feel think hope enjoy recent both other also first",
    stating=_STATING,
    denying=r"\b(?:not|never|no|no longer|neither|nor|without|hate|isn't|aren't|wasn't|weren't|don't|doesn't|didn't|won't"
    r"|wouldn't|can't|cannot|couldn't|haven't|hasn't|hadn't|used to|former(?:ly)?|if|wish)\b",
    ending=r"\b(?:not|never|no longer|no more|any ?more|isn't|aren't|wasn't|don't|doesn't|didn't|won't|can't|couldn't"
    r"|haven't|hasn't|hadn't|used to|former(?:ly)?|quit|left|stopp?(?:ed|ing)?|gave up|given up|giv(?:e|ing) up"
    r"|sold|lost|died|passed away|broke up|split up|divorced|retired|cancel\w*|over|ended?|finished|instead|moved"
    r"|changed|switched|forget|dropped|without|hate|(?:is|are|was|were|called) off|fell through|misheard|mistaken|wrong|untrue)\b",
    dwelling=r"\b(?:flats?|apartments?|houses?|rooms?|floors?|balcony|basement|attic|studio|condo|cottage|place|stairs|alone|myself)",
    working=r"(?:teaches|teaching|works?|working|runs|running|drives|sells|selling|makes|manages|managing|leads|builds|fixes|does|doing)\b",
    no_allergy=r"\b(?:not|n't|never(?: been)?|no longer)\s+(?:\w+\s+){0,2}allergic\b|\bno (?:\w+ )?allerg",
    own=r"\b(?:I|I'm|I've|I'd|I'll|[Ww]e|[Ww]e're|[Mm]e|[Mm]yself|[Cc]all me|[Tt]his is)\b|\b[Mm]y (?:full |first |last |nick)?"
    r"(?:name|home|job|work|address|phone|number|e-?mail|birthday|age|gender|pronouns|diet|hometown|profession"
    r"|occupation|native|mother tongue|first language|religion|height|budget|employer|major|degree)\b",
)  # fmt: skip

TEMPERAMENTS: Final = {
    "introvert": -1.0, "introverted": -1.0, "extrovert": 1.0, "extroverted": 1.0, "extravert": 1.0,
    "extraverted": 1.0, "outgoing person": 1.0,
}  # fmt: skip


def _theme(asked: str, told: str) -> ThemeWords:
    return ThemeWords(asked=rf"\b(?:{'|'.join(asked.split())})\b", told=rf"\b(?:{'|'.join(told.split())})\b")


THEMES: Final = {
    "food": _theme(
        "eat eats eating hungry starving crav(?:e|ing) breakfast brunch lunch dinner supper snacks? meals? dish(?:es)? cook(?:ing)? bak(?:e|ing) recipes? restaurants? "
        "takeaway takeout menu buffet (?:okay|ok|safe|fine)\\sfor\\sme can\\si\\shave potluck picnic roast grill(?:ed|ing)? pesto hungry wine bbq barbecue burgers? pizzas? fries chips pasta noodles? ramen rice sushi steaks? bacon sausages? chicken beef pork tacos? curry "
        "sandwich(?:es)? salads? soups? cheese bread pancakes? cakes? cookies? pies? doughnuts? donuts? pastr(?:y|ies) desserts? sweets? candy chocolates? popcorn milkshakes? smoothies? "
        "ice.cream drinks? beers? wine cocktails? whisk(?:e)?y coffee latte soda cola food foods thai groceries",
        "weight kilos? kg pounds lbs slim(?:mer)? thinner leaner fit(?:ter)? shape healthier healthily healthy eat eating drinking drink alcohol sugar salt meat muscle diabet(?:es|ic) celiac coeliac "
        "cholesterol intoleran(?:t|ce) blood.pressure blood.sugar dairy gluten caffeine allergic allerg(?:y|ies) vegan vegetarian fish seafood nuts? peanuts? spicy vegetables? eggs? coffee chocolate crohn's ibs sober",
    ),
    "money": _theme(
        "buy buying purchase order shop shopping prices? costs? cheap(?:er)? expensive afford pay gifts? presents? sale deals? laptops? phones? cameras? shoes dress hotels? flights? tickets? trips? holidays? vacations? "
        "restaurants? rent invest subscriptions?",
        "money debts? loans? mortgage spend(?:ing)? house home flat apartment credit",
    ),
    "body": _theme(
        "gym workouts? exercise running run jog hik(?:e|ing) walk climb(?:ing)? swim(?:ming)? pool beach lake sea boat kayak ski(?:ing)? bike cycling sports? dance dancing yoga skydiving bungee rollercoaster "
        "flights? fly flying tower bridge balcony tired sick doctor medicines? pills?",
        "marathon triathlon weight fit(?:ter)? shape stronger muscle active exercise",
    ),
    "smoke": _theme(
        "smok(?:e|es|ing) cigars? cigarettes? tobacco vap(?:e|ing) party pub",
        "smoking vaping cigarettes nicotine asthma",
    ),
    "time": _theme(
        "weekends? saturday sunday plans? party movies? series gaming bored free.time schedule stay.up",
        "learn pass exam degree thesis sleep read write screen procrastinating",
    ),
    "travel": _theme(
        "travel(?:s|l?ing)? trips? holidays? vacations? journeys? getaway city.break hotels? hostels? airbnb flights? camping cruise itinerary route tour sightseeing weekend.(?:away|trip) stay.(?:in|at) destination",
        "travel trips? holidays? abroad countries country islands? mountains sea beach lake train trains plane flying fly car.?sick sea.?sick sauna hotels?",
    ),
    "gifts": _theme(
        "gifts? presents? birthday christmas anniversary surprise.for valentine'?s",
        "collects? wished wants wish always.wanted gifts? presents?",
    ),
    "media": _theme(
        "books? novels? read(?:ing)? films? movies? series show documentary watch(?:ing)? music songs? albums? playlist bands? musicians? concerts? podcasts? games? theatre exhibition museum",
        "books? novels? read(?:s|ing)? films? movies? series documentar(?:y|ies) watch(?:es|ing)? music songs? jazz rock pop classical opera bands? concerts? podcasts? games? poems? poetry thrillers? crime comed(?:y|ies)",
    ),
    "home": _theme(
        "flat apartment room kitchen bedroom bathroom living.room furniture sofa curtains lamps? paint(?:ing)? garden balcony plants? decorat(?:e|ing|ion) renovat(?:e|ing|ion)",
        "colou?rs? clutter bright dark quiet garden balcony stairs floor plants? furniture wood",
    ),
    "work": _theme(
        "work job career office interview apply application course training meeting presentation speech letter e-?mail text essay colleagues? boss",
        "work(?:s|ing)? job office meetings? colleagues? boss overtime remote shifts? course short jokes formal",
    ),
    "company": _theme(
        "party parties night.out evening.out date guests? friends invite dinner.with come.over meet(?:ing)?.up wedding celebrat(?:e|ion) restaurants? bar pub club",
        "crowds? loud noisy noise dance dancing drink alcohol people quiet talk company",
    ),
}

VALUES: Final = Values(
    leading=r"(?:(?:i|he|she|they|we|(?:the )?user)(?:'m|'s|'re| am| is| are)? )?"
    r"(?:(?:really|very|quite|so) )?"
    r"(?:(?:fond|a (?:big |huge )?fan|fans) of|keen on|crazy about|(?:love|like|enjoy|adore)s?(?! to be\b)) "
    r"(?=\S)",
    subject=r"(?:i'm|i am|(?:he|she|(?:the )?user)(?:'s| is)|(?:we|they)(?:'re| are)) (?!not\b|no\b)(?=\S)",
    infinitive="to ",
    possessive="'s",
    articles=frozenset({"a", "an"}),
    dropped=frozenset("the my our your his her their its really very quite some user's".split()),
    conjunctions=frozenset({"and", "&"}),
    yes=frozenset({"yes", "yeah", "yep", "true"}),
    no=frozenset({"no", "nope", "false"}),
    naming=frozenset({"named", "called"}),
)

SECRETS: Final = SecretWords(
    password=r"passwords? | passwd | passphrase | passcode | pwd",
    key=r"""(?: api | access | secret | private | signing | encryption )[ _-]?key(?:[ _-]?id)?
               | (?: auth | access | refresh | bearer | api | id | session )[ _-]?token | token
               | (?: client | app | shared )[ _-]?secret | secret | credentials?""",
    equals=r"\s{1,4} (?: is | was | are ) \s{1,4}",
    hints=("pass", "pwd", "key", "token", "secret", "credential"),
)
