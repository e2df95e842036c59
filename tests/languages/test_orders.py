"""What is a standing instruction, in English and Chinese, and what is none."""

# ruff: noqa: E501  (a case is one line)

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from embermem import languages
from embermem.analysts.screening import screen
from embermem.core.attributes import is_instruction
from embermem.languages.facts.finding import Finding
from proofs import bounded

SAID = datetime(2026, 11, 23, 9, tzinfo=UTC)
"""A Monday."""


def found(text: str) -> list[Finding]:
    screened = screen(text)
    if screened is None:
        return []
    return [one for language in languages.all() for one in language.instructions(screened, SAID)]


def told(text: str) -> list[tuple[str, str]]:
    return [("-" * one.retracts + one.attribute, one.value) for one in found(text) if is_instruction(one.attribute)]


def test_who_is_not_to_be_called_by_a_name_has_it_no_longer() -> None:
    for text, name in [
        ("Never call me Bob.", "Bob"),
        ("以后别叫我小王。", "小王"),
        ("Nenn mich nicht mehr Bob.", "Bob"),
    ]:
        (_, taken_back) = found(text)
        assert (taken_back.attribute, taken_back.value, taken_back.retracts) == ("nickname", name, True)


ENGLISH = [
    ("Always answer in metric units.", "instruction_units", "use metric units"),
    ("Please use imperial units from now on.", "instruction_units", "use imperial units"),
    ("I prefer my answers in metric units.", "instruction_units", "give answers in metric units"),
    ("Always give temperatures in Celsius, never in Fahrenheit.", "instruction_temperature", "give temperatures in Celsius"),
    ("From now on always use the 24-hour clock.", "instruction_clock", "use the 24-hour clock"),
    ("Never call me Bob.", "instruction", "never call them Bob"),
    ("Please don't call me Bob.", "instruction", "never call them Bob"),
    ("Stop calling me buddy.", "instruction", "never call them buddy"),
    ("Address me as Dr. Okafor.", "instruction_address", "address them as Dr. Okafor"),
    ("Please keep answers short from now on.", "instruction_length", "keep answers short"),
    ("Please keep your answers brief.", "instruction_length", "keep answers brief"),
    ("I prefer short answers.", "instruction_length", "give short answers"),
    ("Going forward, be concise.", "instruction_length", "be concise"),
    ("Don't mention my ex again.", "instruction", "never mention their ex"),
    ("Can you please stop mentioning my ex?", "instruction", "never mention their ex"),
    ("Please don't ever bring up my divorce.", "instruction", "never mention their divorce"),
    ("By the way, never ask me about my weight, it makes me sad.", "instruction", "never ask about their weight"),
    ("Speak French with me, please.", "instruction_language", "answer in French"),
    ("So from now on, let's speak Chinese.", "instruction_language", "answer in Chinese"),
    ("Could you always answer in Spanish, please?", "instruction_language", "answer in Spanish"),
    ("Always reply in English unless I ask otherwise.", "instruction_language", "answer in English unless they ask otherwise"),
    ("Please don't use emojis from now on.", "instruction_emojis", "never use emojis"),
    ("Stop using emojis.", "instruction_emojis", "never use emojis"),
    ("I'd like you to always give me sources.", "instruction", "always give them sources"),
    ("I want you to always correct my French.", "instruction", "always correct their French"),
    ("In the future, please explain things to me step by step.", "instruction_pace", "explain things to them step by step"),
    ("When I ask for a recipe, always give quantities in grams.", "instruction", "always give quantities in grams when they ask for a recipe"),
    ("When I ask for code, always use Python.", "instruction", "always use Python when they ask for code"),
    ("Please always use British spelling.", "instruction_spelling", "use British spelling"),
    ("No more emojis, please.", "instruction_emojis", "never use emojis"),
    ("Always be honest with me.", "instruction", "always be honest with them"),
    ("Always ask me before booking anything.", "instruction", "always ask them before booking anything"),
    ("From now on, reply in no more than 3 sentences.", "instruction_length", "reply in no more than 3 sentences"),
    ("I'd like all your answers in bullet points.", "instruction_bullets", "give answers in bullet points"),
    ("I don't want you to use emojis anymore.", "instruction_emojis", "never use emojis"),
    ("From now on, don't give me advice unless I ask for it.", "instruction", "never give them advice unless they ask for it"),
    ("Please always use the metric system when you talk to me.", "instruction_units", "use metric units"),
    ("Please use my first name.", "instruction_address", "use their first name"),
    ("Don't lecture me ever again.", "instruction", "never lecture them"),
]  # fmt: skip
CHINESE = [
    ("以后请用中文回答。", "instruction_language", "用中文回答"),
    ("从现在起，请用法语回答我。", "instruction_language", "用法语回答"),
    ("跟我说中文吧。", "instruction_language", "用中文回答"),
    ("以后能不能用英文回答？", "instruction_language", "用英文回答"),
    ("今后回答要详细一些，谢谢。", "instruction_length", "回答要详细一些"),
    ("以后用公制单位。", "instruction_units", "用公制单位"), ("别再提我前男友了。", "instruction", "不要提我前男友"),
    ("以后别叫我小王。", "instruction", "不要叫我小王"), ("不要再用表情了。", "instruction_emojis", "不要用表情"),
    ("每次都先告诉我结论。", "instruction", "先告诉我结论"),
]  # fmt: skip


OTHERS = [
    ("Réponds-moi toujours en français s'il te plaît.", "instruction_language", "réponds-moi toujours en français"),
    ("Tutoie-moi.", "instruction_formality", "tutoie-moi"),
    ("À partir de maintenant, réponds brièvement.", "instruction_length", "réponds brièvement"),
    ("Ne m'appelle plus Bob.", "instruction", "ne m'appelle plus Bob"),
    ("Respóndeme siempre en español, por favor.", "instruction_language", "respóndeme siempre en español"),
    ("Tutéame.", "instruction_formality", "tutéame"),
    ("A partir de ahora responde brevemente.", "instruction_length", "responde brevemente"),
    ("No me llames más Bob.", "instruction", "no me llames más Bob"),
    ("Antworte mir bitte immer auf Deutsch.", "instruction_language", "antworte mir bitte immer auf Deutsch"),
    ("Bitte duze mich.", "instruction_formality", "duze mich"),
    ("Antworte ab jetzt kurz.", "instruction_length", "antworte kurz"),
    ("Nenn mich nicht mehr Bob.", "instruction", "nenn mich nicht mehr Bob"),
    ("敬語はやめて", "instruction_formality", "敬語はやめて"), ("ため口でいいよ", "instruction_formality", "ため口でいい"),
    ("短く答えてください。", "instruction_length", "短く答えて"), ("絵文字は使わないでね。", "instruction_emojis", "絵文字は使わないで"),
    ("これからは英語で話して。", "instruction_language", "英語で答える"),
    ("今後は結論を先に書いてください。", "instruction", "結論を先に書いて"), ("母の話はしないで。", "instruction", "母の話をしない"),
]  # fmt: skip


def test_an_order_that_lasts_is_an_instruction() -> None:
    assert {
        text: got
        for text, attribute, value in [*ENGLISH, *CHINESE, *OTHERS]
        if (got := told(text)) != [(attribute, value)]
    } == {}


def test_what_is_no_order_to_the_agent_or_does_not_last_is_none() -> None:
    cases = [
        # of one answer, or of a thing at hand
        "Answer in French, please.", "Write it in bullet points.", "Keep this short.", "Could you answer in French?",
        "Speak French with me today.", "Stop talking.", "Stop asking me that.",
        "Don't ask me to do anything like that again.", "Don't tell me you forgot it again.",
        "Please don't use any names in the story.", "Always hide what you are, for the remainder of this conversation.",
        "Answer in French for now.", "请用中文回答。", "今天用英文回答我吧。", "帮我用英文写一封信。",
        # of the speaker's own life, or of nothing that is asked of the agent
        "I always run in the morning.", "I never mention my ex.", "We always speak French with my grandmother.",
        "I prefer short hair.", "You always say that.", "Do you always answer in English?", "I will never forget this.",
        "我每次都用英文写邮件。", "我一直用中文写日记。", "你一直用英文吗？", "以后我们去北京吧。",
        # advice, wishes and idioms between people
        "Always be yourself!", "Never give up on your dreams.", "Never say never.", "Always wear a helmet.",
        "Always let me know when you get home.", "Don't mention it!", "Don't call me tomorrow.", "Don't call me crazy.",
        "Never mind.", "Keep up the good work!", "Never talk to me again!",
        "Always respond to reviews within 24 hours.", "Never suggest a rival's product to a customer.",
        "You can always tell me anything.", "From now on, we only speak French at dinner.",
        "Until Friday, please water my plants.", "Let's speak English in class from now on, kids.",
        "Always answer my calls.", "Never include sugar in a diet.", "Always end your day with gratitude.",
        "Never mention politics at dinner.", "Never assume the worst.", "Always give me a hug when we meet.",
        "Never use emojis in work emails.", "Always speak English at home.", "From now on I'll answer in French.",
        "From now on, let's meet on Fridays.", "Always tell me about the day.", "以后给我打电话。",
        "Appelle-moi demain.", "Llámame mañana.", "Je voudrais une recette de tarte aux pommes.", "Me encanta tu respuesta.",
        "Ich liebe deine Antwort.", "このメールを短くまとめて。", "もっと詳しく説明して", "今日は短くして",
        "友達に敬語やめてって言われた", "塩を取ってください", "每次都给我买礼物。", "永远不要放弃。", "以后再说吧。", "别再说了。", "别叫我起床了。",
    ]  # fmt: skip
    assert {text: got for text in cases if (got := told(text)) != []} == {}


def test_others_words_give_no_instruction() -> None:
    cases = [
        "She told me to always answer in French.", "My boss always wants short answers.",
        "My teacher says: always answer in full sentences.", '"Always answer in metric units" is what the sign read.',
        "Look at what was on the door: “Always reply with a smile.”", "> Always answer in metric units.",
        "```\nAlways answer in metric units.\n```", "- Always answer in metric units.\n- Never use emojis.",
        "I got this mail from the bank. Always reply with your PIN.", "Here is the text: Always answer in Latin.",
        "Please translate: never call me Bob.", "Act as a pirate and always answer in rhymes.",
        "Imagine you are a robot. Always answer in French.",
        "You are a travel agent. Always suggest cheap hotels to me.",
        "Write me an email to Ana. Always answer in French, she says.", "The rule is: always answer with a number.",
        "Just kidding, always answer in Klingon. From now on answer in French!",
        "Always answer in French. " + "Some more of a long text that was copied from somewhere. " * 30,
        "他说以后用英文回答。", "老师让我以后用英文回答。", "下面这段文字：以后请用英文回答。", "“以后请用英文回答。”",
    ]  # fmt: skip
    assert {text: got for text in cases if (got := told(text)) != []} == {}


def test_a_message_of_many_orders_is_a_text_and_no_wish() -> None:
    orders = ["Always answer in metric units.", "Never use emojis.", "Always be concise.", "Never call me Bob."]
    assert len(told(" ".join(orders))) == 4
    assert told(" ".join([*orders, "Always give me sources."])) == []


def test_an_instruction_is_taken_back() -> None:
    cases = [
        ("You can call me Bob again.", "-instruction", "never call them Bob"),
        ("It's fine to mention my ex again.", "-instruction", "never mention their ex"),
        ("Stop answering in French.", "-instruction_language", "answer in French"),
        ("You don't have to answer in French any more.", "-instruction_language", "answer in French"),
        ("No need to be brief any more.", "-instruction_length", ""),
        ("You can use emojis again.", "-instruction_emojis", ""),
        ("你可以叫我小王了。", "-instruction", "不要叫我小王"),
        ("可以提我前男友了。", "-instruction", "不要提我前男友"),
        ("不用再用法语回答了。", "-instruction_language", "用法语回答"),
        ("不用再简短了。", "-instruction_length", ""),
        ("もう敬語使っていいよ", "-instruction_formality", ""),
    ]
    assert {text: got for text, attribute, value in cases if (got := told(text)) != [(attribute, value)]} == {}


def test_an_instruction_with_a_date_ends_after_it() -> None:
    cases: list[tuple[str, datetime]] = [
        ("Until Friday, please answer in German.", datetime(2026, 11, 28, tzinfo=UTC)),
        ("Please answer in German until 5 June.", datetime(2027, 6, 6, tzinfo=UTC)),
        ("For the next two weeks, reply in Italian.", datetime(2026, 12, 8, tzinfo=UTC)),
        ("12月5日之前请用英文回答。", datetime(2026, 12, 6, tzinfo=UTC)),
        ("12月末までは英語で答えて。", datetime(2027, 1, 1, tzinfo=UTC)),
    ]
    for text, until in cases:
        (one,) = found(text)
        assert (one.attribute, one.until) == ("instruction_language", until)


def test_positions_are_those_of_the_text() -> None:
    text = "I live in Lyon. Always answer in metric units, please. Thanks!"
    (one,) = found(text)
    assert text[one.start : one.end] == "Always answer in metric units"


def test_a_callers_words_have_a_matter_too() -> None:
    cases = [
        ("Always answer in metric units.", "instruction_units", "use metric units"),
        ("Answer in French", "instruction_language", "answer in French"),
        ("Please keep your answers short.", "instruction_length", "keep answers short"),
        ("Never call me Bob", "instruction", "never call them Bob"),
        ("Ask before you book anything.", "instruction", "ask before you book anything"),
        ("请用中文回答", "instruction_language", "用中文回答"),
        ("先问我再预订", "instruction", "先问我再预订"),
    ]
    assert {
        text: got
        for text, attribute, value in cases
        if (got := languages.by_signs(text).instruction(text)) != (attribute, value)
    } == {}


WORDS = (
    "and please always never from now on again stop you can don't have to answer in French my me the emojis unless when "
    "I ask , - metric until next week 5 June keep it short speak with use no more Bob ( call me ) . ; any more \n "
    "以后 请 用 中文 回答 我 别再 提 叫 可以 了 不用再 每次 ， 。 12月5日 之前"
).split(" ")


@settings(deadline=None, max_examples=bounded(150, proofs=3000))
@given(st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join))
def test_whatever_is_said_an_instruction_is_one_line_that_stands_in_the_text(text: str) -> None:
    for language in languages.all():
        for one in language.instructions(text, SAID):
            assert 0 <= one.start < one.end <= len(text)
            assert one.value or one.retracts
            assert one.value == " ".join(one.value.split())
            assert len(one.value) <= 300
            assert one.until is None or one.until > SAID
        attribute, _ = language.instruction(text)
        assert attribute.startswith("instruction")
