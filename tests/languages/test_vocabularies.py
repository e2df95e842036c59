"""Words of a search in every language: which forms of a word meet, and what is no term."""

from __future__ import annotations

from embermem.core.text import fold
from embermem.languages.vocabularies import by_script, script_of
from embermem.languages.words import is_beginning, search_terms

MEETING = """
ru | Где живёт моя сестра? | Я видела сестру вчера, и мы пили чай.
ru | Артем | Артёма я не видел с весны, он был в отпуске.
uk | Коли хворіла моя собака? | Я був із собакою у лікаря, і їй вже краще.
pl | Co mówiłem o mojej siostrze? | Moja siostra nie jest w domu.
pl | Lukasz | Łukasz był u nas i nie jadł mięsa.
tr | Ankara'ya ne zaman gidiyorum? | Ankara için bilet aldım ama çok pahalı.
tr | annemin dogum gunu ne zaman? | Annem için doğum günü pastası ve çiçek aldım.
fi | Mitä sanoin kissasta? | Minun kissani on sairas ja se ei syö.
hu | Mikor volt a macskám beteg? | A macska nem evett, és beteg is volt.
nl | Wat zei ik over de tuinen? | Ik was in de tuin en het was er stil.
it | Cosa ho detto dell'amico? | Gli amici sono qui con me.
pt | Onde estão as chaves? | A chave não está na gaveta.
ro | Unde sunt cheile? | Am pierdut cheia și nu știu ce să fac.
sv | Var är bilen? | Jag har en bil som är röd.
cs | Kdy byla moje kočka nemocná? | Kočky jsem už nakrmil, ale nejedly.
id | Kapan saya membeli makanan? | Saya makan di rumah dan itu enak.
el | Πού είναι τα κλειδιά; | Δεν έχω το κλειδί για την πόρτα.
ar | أين المفاتيح؟ | المفتاح على الطاولة و مفاتيح البيت في الحقيبة.
fa | كتاب من كجاست؟ | کتاب‌ها را از خانه به اینجا آوردم که بخوانم.
hi | मेरी किताबें कहाँ हैं? | यह किताब मुझे बहुत पसंद है और मैं उसे फिर से पढ़ूँगा.
bn | আমার বইটা কোথায়? | আমি বইটা টেবিলে রেখে এসেছি আর এখন নেই।
ta | என் புத்தகங்கள் எங்கே? | இந்த புத்தகம் ஒரு நண்பர் எனக்கு தந்தது.
hy | Որտեղ է իմ գիրքը | այս գիրք շատ լավն է և ես
vi | con chó của tôi tên gì? | tôi và em nuôi một con chó rất ngoan
th | แมวของฉันชื่ออะไร | เมื่อวานแมวป่วยมาก
ko | 집이 어디야? | 어제 집에서 책을 읽었어요
ka | საქართველოში | საქართველო ლამაზია
"""
"""The language, a question, and a message that shares a word with it, in another form."""


def test_forms_of_a_word_meet_in_every_language() -> None:
    cases = [tuple(part.strip() for part in line.split("|")) for line in MEETING.strip().splitlines()]
    apart = [case for case in cases if not set(search_terms(case[1])) & set(search_terms(case[2]))]
    told = {code: by_script(fold(text)) for code, _, text in cases}
    letters = {code: next(filter(str.isalpha, text)) for code, _, text in cases}
    others = {"th", "ko", "ka"}
    wrong = [code for code in told if code not in others and told[code][script_of(letters[code])].code != code]
    assert (apart, wrong) == ([], [])


def test_a_name_is_found_however_it_was_typed() -> None:
    pairs = [
        "José jose",
        "Łukasz lukasz",
        "Işık isik",
        "Ёлкин елкин",
        "Αλέξης ΑΛΕΞΗΣ",
        "كريم کریم",
        "أحمد احمد",
        "۱۲ 12",
    ]
    apart = [
        pair for pair in pairs for one, other in [pair.split()] if not {*search_terms(one)} & {*search_terms(other)}
    ]
    assert apart == []


def test_function_words_are_no_terms_where_the_language_is_sure() -> None:
    assert [one for one in search_terms("и где же моя кошка, ты её не видел?") if not is_beginning(one)] == [
        "кошк", "кошка", "видел",
    ]  # fmt: skip
    assert search_terms("The lake is in the town.") == ["lake", "town"]
    assert "lake" in search_terms("lake")  # a function word of Swahili, and nothing tells that it is one here
    assert [search_terms(text) for text in ("我们的", "the", "1999")] == [[], [], ["1999"]]
