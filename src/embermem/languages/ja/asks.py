"""What asks for a fact: for each attribute the words of a question that it answers."""

# ruff: noqa: E501  (a table is read in one piece)

from __future__ import annotations

from typing import Final

_WHO = r"(?:誰|だれ|どなた|名前|何人|なんて|何て|何という|い(?:る|ます|た|まし)|教えて|について)"
_RELATIVES = (
    r"(?:家族|兄弟|きょうだい|姉妹|親|両親|子ども|子供|息子|娘|夫|妻|旦那|奥さん|主人|[兄姉弟妹](?!弟)|祖[父母])"
)
_OTHERS = r"(?:友達|友人|同僚|上司|先輩|後輩|知り合い)"

ASKS: Final = {
    "name": r"名前|(?:私|僕|俺)(?:は|って)(?:誰|だれ)|なんて(?:いう|呼)|何て(?:いう|呼)",
    "nickname": r"あだ名|ニックネーム|何と呼|なんて呼",
    "age": r"何歳|何才|いくつ(?:です|なの|だっけ|だった|[？?]|$|に)|年齢|年は",
    "birthday": r"誕生日|いつ生まれ|生年月日|バースデー",
    "birth_year": r"何年生まれ|生年|何歳|年齢",
    "born_in": r"どこで生まれ|生まれ",
    "lives_in": r"どこに(?:住|引っ越)|住(?:所|んで)|家はどこ|どこ住み|何県|どの(?:町|街|都市)",
    "comes_from": r"出身|地元|どこの人|故郷",
    "grew_up_in": r"どこで育|育っ|育ち|地元|出身",
    "nationality": r"国籍|何人(?:です|なの)|どこの国",
    "works_as": r"(?:何の|どんな|どういう)(?:お)?仕事|職業|お?仕事は(?:何|なん)|何を(?:して|やって)(?:る|いる)人",
    "works_at": r"どこで(?:働|勤)|勤務先|勤め先|職場|会社(?:は|の名前)|どこに勤め",
    "works_in": r"業界|業種|分野",
    "studies": r"専攻|何を(?:勉強|学ん|専攻)|学部",
    "studies_at": r"(?:大学|学校|高校)(?:は)?(?:どこ|の名前)|どこの(?:大学|学校|高校)|どこで(?:勉強|学ん)",
    "graduated_from": r"卒業|出身校|どこの大学",
    "education": r"学歴|学位|最終学歴",
    "marital_status": r"結婚(?:して|は)|独身|既婚|婚姻|離婚|彼[氏女](?:は|が)?い",
    "native_language": r"母語|母国語",
    "speaks": r"何語|何[かヶカ]国語|話せる(?:言語|言葉)|言語",
    "learns": r"習(?:って|い事)|勉強して|学んで|習いごと",
    "diet": r"食事制限|ベジタリアン|ヴィーガン|菜食|食べられない",
    "allergic_to": r"アレルギー",
    "has_condition": r"病気|持病|病名|診断|体調|健康",
    "has_pet": r"ペット|飼って|犬|猫|わんちゃん|ねこ",
    "has_relative": rf"{_WHO}.{{0,12}}{_RELATIVES}|{_RELATIVES}.{{0,12}}{_WHO}",
    "knows": rf"{_WHO}.{{0,12}}{_OTHERS}|{_OTHERS}.{{0,12}}{_WHO}",
    "likes": r"何が好き|好きな(?:もの|こと)|好み",
    "dislikes": r"嫌い|苦手",
    "hobby": r"趣味|休みの日|休日(?:は|に)|暇な(?:とき|時)",
    "plays": r"楽器|スポーツ|演奏",
    "collects": r"集めて|コレクション",
    "drives": r"(?:何の|どんな)車|車種|車は",
    "afraid_of": r"怖|恐|こわい",
    "religion": r"宗教|信仰",
    "height": r"身長|背(?:は|の高さ)",
    "phone": r"電話番号|携帯番号|番号は",
    "email": r"メール(?:アドレス)?|メアド|アドレス",
    "budget": r"予算",
}
