"""Traditional characters that the rules use, read as the simplified ones."""

from __future__ import annotations

from typing import Final

_PAIRS: Final = """
們们 現现 嬤嬷 唸念 別别 個个 這这 裡里 裏里 來来 過过 還还 沒没 會会 說说 話话 講讲 誰谁 麼么 嗎吗 為为 從从 對对
開开 關关 時时 間间 點点 號号 歲岁 歷历 曆历 學学 習习 讀读 書书 寫写 畫画 專专 業业 畢毕 醫医 護护
師师 員员 計计 設设 術术 機机 車车 電电 腦脑 網网 聯联 銀银 錢钱 買买 賣卖 價价 預预 愛爱 歡欢 討讨
厭厌 樂乐 聽听 彈弹 鋼钢 養养 貓猫 隻只 條条 兒儿 孫孙 媽妈 爺爷 結结 離离 訂订 懷怀 懼惧 產产 節节
圓圆 國国 臺台 灣湾 東东 廣广 漢汉 蘇苏 慶庆 連连 鄉乡 鎮镇 區区 縣县 陝陕 寧宁 遼辽 龍龙 雲云 貴贵
蘭兰 韓韩 義义 羅罗 馬马 紐纽 約约 倫伦 遷迁 務务 辭辞 職职 際际 貿贸 園园 館馆 廳厅 飯饭 飲饮 餓饿
魚鱼 雞鸡 蝦虾 鮮鲜 醬酱 鹽盐 麵面 堅坚 藥药 癥症 壓压 憂忧 鬱郁 傷伤 斷断 燒烧 發发 瘋疯 減减 煙烟
菸烟 準准 備备 劃划 決决 認认 識识 參参 報报 獲获 獎奖 證证 執执 駕驾 訓训 練练 遊游 戲戏 賽赛 場场
籃篮 騎骑 單单 錶表 輛辆 張张 陳陈 劉刘 楊杨 趙赵 黃黄 吳吴 鄭郑 謝谢 許许 馮冯 鄧邓 蕭萧 葉叶 閻阎
盧卢 蔣蒋 賈贾 譚谭 鄒邹 陸陆 萬万 湯汤 賴赖 龔龚 歐欧 陽阳 諸诸 慮虑 覺觉 應应 該该 較较 總总 終终
經经 當当 剛刚 週周 禮礼 後后 幾几 兩两 雙双 鳥鸟 龜龟 烏乌 鸚鹦 鵡鹉 寵宠 換换 轉转 進进 遠远 運运
動动 聞闻 親亲 舊旧 歸归 導导 攝摄 編编 輯辑 劇剧 優优 異异 級级 碩硕 論论 題题 難难 夢梦 願愿 標标
則则 實实 雖虽 賞赏 楓枫 試试 驗验 檢检 療疗 癒愈 糧粮 葷荤 種种 樹树 鍛锻 煉炼 慣惯 靜静 顏颜 藍蓝
綠绿 紅红 橋桥 島岛 灘滩 嶺岭 溫温 濟济 瀋沈 無无 讓让 請请 幫帮 譯译 潤润 飾饰 詞词 寢寝 鄰邻 闆板
辦办 醜丑 帶带 給给 與与 並并 啟启 麗丽 勝胜 偉伟 傑杰 軍军 穎颖 鳳凤 贏赢 輸输 檳槟 馴驯
""".split()
_SIMPLIFIED: Final = str.maketrans({pair[0]: pair[1] for pair in _PAIRS})


def simplified(text: str) -> str:
    """The text with the traditional characters of the table replaced; as long as the text."""
    return text.translate(_SIMPLIFIED)


def as_written(value: str, read: str, written: str) -> str:
    """A value that was taken from a passage as it was read, in the characters in which the passage is written."""
    start = read.find(value)
    if start >= 0:
        return written[start : start + len(value)]
    back = {one: other for one, other in zip(read, written, strict=True) if one != other}
    return "".join(back.get(character, character) for character in value)
