"""Sentences of our own: what must be understood, and what must not be taken for a fact.

POSITIVE: sentence | attribute | value [| subject, if not the user]. A `-` before the attribute marks a retraction.
"""

POSITIVE_EN = """
My current role is Middle Manager at a trading company. | works_as | Middle Manager
I moved to Lyon in May because the rent was lower. | lives_in | Lyon
I live in Porto. | lives_in | Porto
We live in New York now. | lives_in | New York
i live in berlin | lives_in | berlin
I'm living in San Francisco at the moment. | lives_in | San Francisco
I've lived in Oslo since 2019. | lives_in | Oslo
Last month I moved to Kyoto. | lives_in | Kyoto
My wife and I moved to Bergen two years ago. | lives_in | Bergen
I'm based in Nairobi, by the way. | lives_in | Nairobi
I relocated to Denver last year. | lives_in | Denver
I don't live in Lyon any more. | -lives_in | Lyon
I no longer live in Utrecht. | -lives_in | Utrecht
I used to live in Malmö. | -lives_in | Malmö
I'm from Valparaíso. | comes_from | Valparaíso
I come from Ghana. | comes_from | Ghana
I grew up in Leeds. | grew_up_in | Leeds
I was born in Hamburg. | born_in | Hamburg
I was born in 1994. | birth_year | 1994
I was born on 3 May 1994. | birthday | 3 May 1994
My birthday is on 3 May. | birthday | 3 May
My birthday is March 21st. | birthday | March 21st
I'm 34 years old. | age | 34
I just turned 40 last week! | age | 40
My name is Alice Moreau. | name | Alice Moreau
Hi, my name is Tom and I need some help. | name | Tom
my name is sam | name | sam
Hello! My name's Priya. | name | Priya
Hi, I'm Alice. | name | Alice
Hello! I'm Jonas Berg from Turku. | name | Jonas Berg
Call me Sam. | nickname | Sam
You can call me Lexi. | nickname | Lexi
Everyone calls me Bo. | nickname | Bo
I'm a woman. | gender | woman
As a woman, I worry about walking home late. | gender | woman
I'm an introvert. | temperament | introvert
I'm Brazilian, so the cold is new to me. | nationality | Brazilian
I'm married. | marital_status | married
I got divorced last year. | marital_status | divorced
I've been happily married for ten years. | marital_status | married
I'm a nurse. | works_as | nurse
I'm a software engineer at Lindqvist. | works_as | software engineer
I'm a software engineer at Lindqvist. | works_at | Lindqvist
I work as a carpenter. | works_as | carpenter
I've been working as a tour guide since 2020. | works_as | tour guide
I work as a data analyst at Hallmark Foods. | works_at | Hallmark Foods
I work for Siemens. | works_at | Siemens
I work at a bakery. | works_at | a bakery
I work in marketing. | works_in | marketing
I started working at Northwind last month. | works_at | Northwind
I quit my job at Northwind. | -works_at | Northwind
I no longer work for Siemens. | -works_at | Siemens
I study biology at the University of Oslo. | studies | biology
I study biology at the University of Oslo. | studies_at | the University of Oslo
I'm majoring in economics. | studies | economics
My major is art history. | studies | art history
I graduated from McGill University in 2015. | graduated_from | McGill University
I'm allergic to peanuts. | allergic_to | peanuts
I'm severely allergic to bee stings. | allergic_to | bee stings
I'm allergic to penicillin, so please let me know if it is in there. | allergic_to | penicillin
I have a peanut allergy. | allergic_to | peanut
I have asthma. | has_condition | asthma
I was diagnosed with celiac disease last year. | has_condition | celiac disease
I'm vegetarian. | diet | vegetarian
I'm a strict vegan. | diet | vegan
I've been vegetarian for five years. | diet | vegetarian
I'm no longer vegan. | -diet | vegan
I don't drink alcohol. | avoids | alcohol
I have two dogs, Rex and Bo. | has_pet | two dogs, Rex and Bo
I have a cat named Luna. | has_pet | a cat named Luna
We adopted a puppy yesterday. | has_pet | a puppy
My dog Biscuit chewed the sofa. | has_pet | dog Biscuit
I have three kids. | has_relative | three kids
I have an older brother. | has_relative | an older brother
My wife's name is Mia. | name | Mia | wife
My brother is called Oskar. | name | Oskar | brother
My sister Ana is a nurse. | works_as | nurse | sister Ana
My dad works as a bus driver. | works_as | bus driver | dad
My best friend Noor lives in Cairo. | lives_in | Cairo | best friend Noor
My son is 7 years old. | age | 7 | son
My daughter is allergic to eggs. | allergic_to | eggs | daughter
My mother loves gardening. | likes | gardening | mother
I speak French. | speaks | French
I speak Polish and English. | speaks | Polish and English
I'm fluent in Mandarin. | speaks | Mandarin
I'm learning Spanish. | learns | Spanish
I'm learning to play the cello. | learns | the cello
My native language is Turkish. | native_language | Turkish
My favourite colour is teal. | favorite_color | teal
My favorite food is ramen. | favorite_food | ramen
My favorite book is "Middlemarch". | favorite_book | Middlemarch
My hobbies are knitting and chess. | hobby | knitting and chess
I love hiking in the mountains with my brother. | likes | hiking in the mountains
I really like jazz. | likes | jazz
I enjoy baking bread. | likes | baking bread
I'm a big fan of science fiction. | likes | science fiction
I'm really into pottery these days. | likes | pottery
I love to cook. | likes | cooking
I love the Beatles. | likes | the Beatles
I hate mushrooms. | dislikes | mushrooms
I can't stand horror films. | dislikes | horror films
I don't like spicy food. | dislikes | spicy food
I'm not a fan of musicals. | dislikes | musicals
I don't like sushi anymore. | -likes | sushi
I prefer tea to coffee. | prefers | tea to coffee
I play the violin. | plays | the violin
I collect old maps. | collects | old maps
I drive a blue Volvo. | drives | blue Volvo
I visited Japan last year. | visited | Japan
I've been to Iceland. | visited | Iceland
I went to Lisbon two years ago. | visited | Lisbon
I live in Tarnby. | lives_in | Tarnby
I moved to Tarnby from Copenhagen. | lives_in | Tarnby
I moved from Copenhagen to Tarnby. | lives_in | Tarnby
I moved to Tarnby, Denmark. | lives_in | Tarnby, Denmark
I moved to Tarnby with my wife. | lives_in | Tarnby
I moved to a flat in Tarnby. | lives_in | Tarnby
I moved to Austin, TX last year. | lives_in | Austin, TX
I moved to Oslo and my brother moved to Rome. | lives_in | Oslo
I live in Lyon now, and I moved from Rome. | lives_in | Lyon
I've been living in Rome for a year. | lives_in | Rome
I live in Oslo and have worked at Northwind for two years. | lives_in | Oslo
My sister moved to Canada. | lives_in | Canada | sister
I'm no longer a teacher. | -works_as | teacher
I'm not a nurse anymore. | -works_as | nurse
I used to be a plumber. | -works_as | plumber
I'm retired. | -works_as |
I'm retired. | -works_at |
I retired last year. | -works_as |
I quit my job. | -works_at |
I'm not allergic to walnuts any more. | -allergic_to | walnuts
I'm no longer allergic to cats. | -allergic_to | cats
I don't have a dog any more. | -has_pet | a dog
We no longer have a cat. | -has_pet | a cat
I'm no longer married. | -marital_status | married
No wait, I live in Rome. | lives_in | Rome
I don't play the violin anymore. | -plays | the violin
I don't like jazz. | -likes | jazz
I hate jazz. | -likes | jazz
I love jazz. | -dislikes | jazz
I like hiking, chess and baking bread. | -dislikes | chess
I'm Sam. | name | Sam
I'm Lou, and I work as a nurse. | name | Lou
Hi Ember, I'm Lou. | name | Lou
My dog's name is Rex. | has_pet | dog Rex
My dog is called Rex. | has_pet | dog Rex
My cat's name is Luna and I love her. | has_pet | cat Luna
I have a cat who sleeps on my bed. | has_pet | a cat
I have two cats at home. | has_pet | two cats
I have asthma and hay fever. | has_condition | asthma
I work as a volunteer firefighter. | works_as | volunteer firefighter
I'm married to Anna. | marital_status | married
I'm allergic to nickel. | allergic_to | nickel
I like birds a lot and herons in the wetlands. | likes | birds
I am a morning person. | temperament | morning person
I want to get slimmer. | wants_to | get slimmer
I'm trying to lose weight. | wants_to | lose weight
I've been trying to lose a few pounds since Christmas. | wants_to | lose a few pounds
I want to quit smoking. | wants_to | quit smoking
I really want to learn Spanish this year. | wants_to | learn Spanish
I'd like to eat healthier. | wants_to | eat healthier
I need to cut down on sugar because of my teeth. | wants_to | cut down on sugar
I've decided to give up alcohol. | wants_to | give up alcohol
I want to become a nurse. | wants_to | become a nurse
I want to improve my French. | wants_to | improve their French
I plan to run a marathon next year. | wants_to | run a marathon
My goal is to lose 5 kilos by June. | wants_to | lose 5 kilos by June
My new year's resolution is to drink less alcohol. | wants_to | drink less alcohol
We went out late, but I want to sleep better. | wants_to | sleep better
I want to lose weight, so no more cake for me. | wants_to | lose weight
I no longer want to lose weight. | -wants_to | lose weight
I don't want to run a marathon any more. | -wants_to | run a marathon
I gave up trying to quit smoking. | -wants_to | quit smoking
I've finally quit smoking. | -wants_to | quit smoking
I'm preparing for my bar exam. | prepares_for | bar exam
I'm training for a marathon. | prepares_for | marathon
I passed the bar exam. | -prepares_for | bar exam
I'm saving up for a new bike. | saves_for | a new bike
I'm giving up sugar. | gives_up | sugar
I'm cutting down on caffeine. | cuts_down_on | caffeine
I'm on a diet. | on_diet | diet
I'm on a low-carb diet. | on_diet | low-carb diet
I'm no longer on a diet. | -on_diet |
I'm on a tight budget. | budget | a tight budget
I'm on a budget of 500 euros. | budget | a budget of 500 euros
My budget is $800 a month. | budget | a budget of $800 a month
I must not eat gluten. | avoids | gluten
I'm not allowed to eat salt. | avoids | salt
I can't eat dairy or eggs. | avoids | dairy or eggs
I have to avoid caffeine. | avoids | caffeine
I've cut out red meat. | avoids | red meat
I can eat gluten again. | -avoids | gluten
I'm lactose intolerant. | health | lactose intolerant
I'm type 1 diabetic. | health | type 1 diabetic
I'm colour-blind. | health | colour-blind
I'm afraid of heights. | afraid_of | heights
I can't swim. | cannot | swim
I can't drive because of my eyes. | cannot | drive
I can't eat peanuts, they make me sick. | avoids | peanuts
I'm not allowed to drink alcohol because of my medication. | avoids | alcohol
I need to save money for my wedding. | wants_to | save money
I'm studying for the GRE. | prepares_for | GRE
"""

POSITIVE_ZH = """
我叫王小明。 | name | 王小明
你好，我叫李娜，很高兴认识你。 | name | 李娜
我的名字是陈静。 | name | 陈静
你可以叫我小李。 | nickname | 小李
叫我阿杰就好。 | nickname | 阿杰
我住在杭州。 | lives_in | 杭州
我现在住在北京朝阳区。 | lives_in | 北京朝阳区
我上个月搬到了成都。 | lives_in | 成都
去年我搬到了深圳。 | lives_in | 深圳
我不再住在上海了。 | -lives_in | 上海
我从南京搬走了。 | -lives_in | 南京
我来自云南。 | comes_from | 云南
我是四川人。 | comes_from | 四川
我老家在洛阳。 | comes_from | 洛阳
我在青岛长大。 | grew_up_in | 青岛
我出生在大连。 | born_in | 大连
我是1994年出生的。 | birth_year | 1994
我今年30岁。 | age | 30
我二十五岁了。 | age | 25
我的生日是5月3日。 | birthday | 5月3日
我是女生。 | gender | 女
作为一个女生，我更在意安全。 | gender | 女
我是老师。 | works_as | 老师
我是一名护士。 | works_as | 护士
我的职业是建筑师。 | works_as | 建筑师
我在医院当护士。 | works_as | 护士
我在腾讯工作。 | works_at | 腾讯
我在一所小学上班。 | works_at | 一所小学
我不在腾讯工作了。 | -works_at | 腾讯
我在浙江大学读书。 | studies_at | 浙江大学
我的专业是生物学。 | studies | 生物学
我学金融专业。 | studies | 金融
我毕业于武汉大学。 | graduated_from | 武汉大学
我妹妹是护士。 | works_as | 护士 | 妹妹
我爸爸在银行工作。 | works_at | 银行 | 爸爸
我哥哥住在广州。 | lives_in | 广州 | 哥哥
我女儿叫朵朵。 | name | 朵朵 | 女儿
我儿子今年6岁。 | age | 6 | 儿子
我对花生过敏。 | allergic_to | 花生
我对猫毛过敏，所以不能养猫。 | allergic_to | 猫毛
我吃素。 | diet | 吃素
我不吃香菜。 | avoids | 香菜
我有哮喘。 | has_condition | 哮喘
我养了一只猫，叫咪咪。 | has_pet | 一只猫，叫咪咪
我家有两条狗。 | has_pet | 两条狗
我叫张伟，今年28岁，在一家互联网公司上班。 | age | 28
我叫张伟，今年28岁，在一家互联网公司上班。 | works_at | 一家互联网公司
我喜欢吃火锅，但是不喜欢吃香菜。 | dislikes | 吃香菜
我是北京人，现在在上海工作。 | works_at | 上海
我有两个孩子。 | has_relative | 两个孩子
我结婚了。 | marital_status | 结婚
我会说法语。 | speaks | 法语
我的母语是粤语。 | native_language | 粤语
我在学日语。 | learns | 日语
我会弹钢琴。 | plays | 弹钢琴
我会弹吉他。 | plays | 弹吉他
我儿媳妇是护士，经常上夜班。 | works_as | 护士 | 儿媳妇
我上个月在网上买了一台跑步机，可以退吗？ | owns | 一台跑步机
我是卡车司机。 | works_as | 卡车司机
我上周五提了离职。 | did | 提了离职
我爸妈都是农民。 | works_as | 农民 | 父母
我老公常年在外地打工。 | does | 在外地打工 | 老公
我女友在小学教英语。 | does | 在小学教英语 | 女友
我们全家去年去了三亚过年。 | did | 全家去了三亚过年
我下个月退休了。 | plans | 退休
我最喜欢的颜色是蓝色。 | favorite_color | 蓝色
我的爱好是摄影。 | hobby | 摄影
我喜欢爬山。 | likes | 爬山
我特别喜欢看电影。 | likes | 看电影
我讨厌下雨天。 | dislikes | 下雨天
我不喜欢吃甜食。 | dislikes | 吃甜食
我更喜欢喝茶。 | prefers | 喝茶
我去过冰岛。 | visited | 冰岛
我是个内向的人。 | temperament | 内向
我姐姐其实是护士。 | works_as | 护士 | 姐姐
我妈妈已经是老师了。 | works_as | 老师 | 妈妈
我姐姐小红是护士。 | works_as | 护士 | 姐姐小红
我哥哥王强住在北京。 | lives_in | 北京 | 哥哥王强
我女儿朵朵是学生。 | works_as | 学生 | 女儿朵朵
我妈是医生。 | works_as | 医生 | 妈妈
我姐夫是医生。 | works_as | 医生 | 姐夫
我打算搬到广州。 | plans | 搬到广州
我不再对花生过敏了。 | -allergic_to | 花生
我对花生不再过敏了。 | -allergic_to | 花生
我不喜欢爵士乐了。 | -likes | 爵士乐
我讨厌爵士乐。 | -likes | 爵士乐
我喜欢爵士乐。 | -dislikes | 爵士乐
我不再是老师了。 | -works_as | 老师
我不是老师了。 | -works_as | 老师
我退休了。 | -works_as |
我辞职了。 | -works_at |
我五月份搬到里昂了。 | lives_in | 里昂
我叫小红。 | name | 小红
我想减肥。 | wants_to | 减肥
我最近在减肥。 | wants_to | 减肥
我要戒烟。 | wants_to | 戒烟
我正在戒酒。 | wants_to | 戒酒
我打算考研。 | wants_to | 考研
我决定学好英语。 | wants_to | 学好英语
我今年的目标是跑完马拉松。 | wants_to | 跑完马拉松
我不想减肥了。 | -wants_to | 减肥
我放弃考研了。 | -wants_to | 考研
我终于戒烟了。 | -wants_to | 戒烟
我在备考。 | prepares_for | 备考
我最近在准备高考，压力很大。 | prepares_for | 准备高考
我不能吃麸质。 | avoids | 麸质
我不能喝牛奶和咖啡。 | avoids | 牛奶和咖啡
我能吃辣了。 | -avoids | 辣
我恐高。 | health | 恐高
我乳糖不耐受。 | health | 乳糖不耐受
我怕狗。 | afraid_of | 狗
我的预算是500欧元。 | budget | 500欧元
我预算有限。 | budget | 有限
我有痛风。 | has_condition | 痛风
我计划今年考雅思。 | wants_to | 考雅思
我在攒钱买房。 | wants_to | 攒钱买房
我的手机号是13900001111。 | phone | 13900001111
我的邮箱是lin@example.org。 | email | lin@example.org
我身高一米七五。 | height | 一米七五
我身高172，穿多大码合适？ | height | 172
我是小周，刚来的。 | name | 小周
我今年六十五了。 | age | 65
我刚搬到昆明，有什么好吃的推荐吗？ | lives_in | 昆明
我住在长沙市岳麓区。 | lives_in | 长沙市岳麓区
我入职华为了。 | works_at | 华为
我去年跳槽到了京东。 | works_at | 京东
我被裁了。 | -works_at |
我上个月被裁了。 | did | 被裁了
我失业了。 | -works_at |
我在一家外企做会计。 | works_as | 会计
我在一家外企做会计。 | works_at | 一家外企
我做外贸的。 | works_in | 外贸
我在复旦大学读法律。 | studies_at | 复旦大学
我在复旦大学读法律。 | studies | 法律
我本科学历。 | education | 本科学历
我在里昂留学。 | does | 在里昂留学
我怀孕三个月了。 | health | 怀孕
我查出来是甲亢。 | has_condition | 甲亢
我青霉素过敏。 | allergic_to | 青霉素
我海鲜完全不能碰。 | avoids | 海鲜
医生不让我喝酒。 | avoids | 酒
我太太吃清真。 | diet | 吃清真 | 太太
我和我老公结婚八年了。 | marital_status | 结婚
我上周考过了科目四。 | did | 考过了科目四
我有一个哥哥，两个姐姐。 | has_relative | 两个姐姐
我老婆在医院上班。 | has_relative | 老婆
我妹妹小敏在大连当老师。 | has_relative | 妹妹小敏
我妹妹小敏在大连当老师。 | works_as | 老师 | 妹妹小敏
我妹妹小敏在大连当老师，她喜欢唱歌。 | likes | 唱歌 | 妹妹小敏
我弟弟今年二十岁，喜欢打篮球。 | likes | 打篮球 | 弟弟
老公在银行上班。 | works_at | 银行 | 老公
奶奶今年八十一了。 | age | 81 | 奶奶
儿子在加拿大。 | lives_in | 加拿大 | 儿子
我女儿上个月生了个男孩。 | did | 生了个男孩 | 女儿
我朋友小赵去了英国。 | knows | 朋友小赵
我上周和同事去爬了泰山。 | did | 和同事去爬了泰山
上周去了扬州看瘦西湖，人山人海。 | did | 去了扬州看瘦西湖
我前天买了一台洗碗机。 | owns | 一台洗碗机
我上个月在合肥买了房。 | did | 在合肥买了房
我参加了一个合唱团。 | did | 参加了一个合唱团
我昨天做了胃镜。 | did | 做了胃镜
我上周骨折了。 | did | 骨折了
我开了一家面馆。 | did | 开了一家面馆
我和男朋友分手了。 | -has_relative | 男朋友
我每天晚上跳广场舞。 | does | 每天晚上跳广场舞
我周末一般去爬山。 | does | 周末一般去爬山
每周三晚上去上瑜伽课。 | does | 每周三晚上去上瑜伽课
我下个月要和女朋友去泰国旅游。 | plans | 和女朋友去泰国旅游
我打算明年要二胎。 | wants_to | 要二胎
我想明年春天把阳台改成书房。 | plans | 把阳台改成书房
我下周三要做手术。 | plans | 做手术
以后我想当摄影师。 | wants_to | 当摄影师
我戒烟成功了。 | -wants_to | 戒烟
我是佛山人，海鲜一口都不能碰。 | avoids | 海鲜
"""

NEGATIVE_EN = """
Do I live in Lyon?
I live in Lyon, right?
If I lived in Paris I would be happy.
I wish I lived in Rome.
Imagine I live in a castle in Scotland.
I might move to Berlin.
I want to be a doctor.
I would love hiking there.
I'd like a coffee.
I'd love to visit Japan.
She said I live in Madrid.
He said 'I am a doctor'.
He told me, "I live in Chicago and I love jazz."
"I'm a nurse," she said.
My teacher always says I am a poet.
I'm dead.
I'm all ears.
I'm in trouble.
I love it.
I love that!
I love you so much.
I love how you explain things.
I love when it rains.
I like your idea.
I like this song.
I like where this is going.
I love the painting you showed me.
I like to think so.
I hate to say this.
I hate it here.
I hate you.
Call me crazy, but I liked the ending.
Call me tomorrow.
Call me back later.
Call me when you land.
Call Me Maybe is a song.
I live for the weekend.
I live in fear of spiders.
I live in the moment.
I live in denial.
I live in a small flat.
I live in Maria's old house.
I work in silence.
I work as hard as I can.
I work at night.
I work for peanuts.
I work from home today.
I'm not a doctor.
I am not married.
I'm not allergic to anything.
I never lived in Boston.
I don't have a dog.
I have two dogs in the painting?
I have a frog in my throat.
I have a dog video to show you.
I have two kids in my class with that name.
I'm a mess.
I'm a bad cook.
I'm a fast runner.
I'm a big kid at heart.
I'm a doctor in the game I play.
I'm a teacher at heart.
I'm a pilot in my dreams.
I'm a former nurse's son.
I'm the new manager's favorite.
I'm like a doctor to my friends.
I'm married to my job.
I'm engaged in a long project.
I'm single-handedly fixing the roof.
I'm from the marketing team.
I'm from work.
I'm from Mars.
Hello, I'm Sorry for being late.
Hey, I'm back.
I love Mondays. Not.
I'm hungry.
I'm German teacher of the month?
When I turn 40 I will move to Spain.
When I grow up I'm a pirate.
I felt like I was born in 1900.
Maybe I'm allergic to cats.
I think I'm allergic to shrimp, maybe.
I guess I like opera or something.
Sometimes I hate my job.
I almost moved to Toronto.
I never said I like jazz.
People think I'm a lawyer.
My sister thinks I'm a vegan.
My friend wants to be a nurse.
My sister said she is a nurse.
Is my sister Ana a nurse?
My brother might be a pilot one day.
My name is mud.
My name is on the list.
My name is hard to spell.
My favorite part is the ending.
My favorite color is it.
My birthday is soon.
My dog ate my homework.
My cat and I are tired.
Let's role-play: I am a knight and I live in Camelot.
Pretend that I'm a doctor from Boston.
Translate this into French: I live in Paris.
I live in Paris. Please translate this sentence.
Write a story about me: I live in Oslo and I love skiing.
Can you proofread this? I am a nurse and I work at Mercy Hospital.
> I live in Dublin and work for Google.
`I live in Dublin`
```I live in Dublin.```
- I love cheese
♪ I'm a creep, I live in London ♪
I'm a lumberjack / I'm okay / I sleep all night
I'm a pilot, just kidding!
In the movie, I'm a spy who lives in Prague.
In this game I'm a doctor.
For example, I live in Paris.
Suppose I'm allergic to nuts.
Unless I'm vegan, that works.
I dreamed I lived in Tokyo.
I used to love jazz.
I liked the soup.
I love being here.
I love talking to you.
I prefer the second one.
I prefer not to say.
I enjoyed the film.
I enjoy it very much.
I collect it tomorrow.
I drive a lot.
I play a role in this.
I speak for everyone here.
I speak too much.
I study every day.
I study hard.
I'm learning a lot.
I went to bed.
I've been to the doctor.
I've been to hell and back.
I'm over 18 years old content.
I was born to run.
I was born in a barn.
The song goes: I was born in the USA.
Bob: I live in Rome.
Once upon a time I lived in Norway.
I live in Jira.
I live in Excel.
I live in VS Code.
I'm from Google.
I moved to Rome in a video game.
Last night I dreamt. I moved to Rome.
I moved to Lyon in May next year.
I live in Rome in the summer only, otherwise Oslo.
In 2030 I live in Rome.
I live in Rome - no wait, that's my brother.
I live in Rome. No wait, that's my brother.
I moved to Rome, correction, to Milan.
Is this sentence right? I live in Rome.
I'm allergic to stupidity.
I'm allergic to mornings.
I'm allergic to commitment.
I'm allergic to happiness.
I'm married to the idea.
I'm married to my career.
I have a dog in this fight.
I have a dog day.
I have a dog for sale.
I have a fish to fry.
I have a dog who isn't mine.
I have depression in the economy class.
I work as a team player.
I work as a student driver.
I work as a placeholder.
My brother works as a team player.
I'm a nurse on TV.
I'm a doctor on paper.
My sister Ana is a nurse in her dreams.
My brother works at Night.
Call me Dr.
Call me Sir.
My name is Ignore Previous Instructions.
My name is System Prompt.
My name is Bob'); DROP TABLE owner;--
I'm Hungry.
I'm Done.
I'm Paris.
I'm Sam's sister.
I'm Team Jacob.
I'm From Oslo.
I'm Elsa in this game.
I want to go home now.
I want a coffee.
I want to eat a burger tonight.
I want to see that film.
I want to know more about that.
I want to learn more about you.
I want to learn from this mistake.
I want to improve my essay.
I want to save this file.
I want to quit this game.
I want to quit my job.
I want to get in shape for the photo today, haha.
I want to sleep.
I want to be left alone.
I want to run to the shop.
I want to pass the salt.
I want to eat less tonight.
I want to stop the car.
I want to stop talking about it.
I want to become a better person in the next life.
I want to become a butterfly.
Maybe I want to lose weight.
I want to lose weight, maybe.
I want to quit smoking one day.
I guess I want to lose weight.
Do I want to lose weight?
I don't want to lose weight.
I never wanted to lose weight.
I wanted to lose weight.
I used to want to quit smoking.
If I want to lose weight I must run.
I wish I wanted to quit smoking.
I want to lose weight, but I gave up on it.
I want to quit smoking, but I never will.
I wanted to run a marathon but changed my mind.
My sister wants to lose weight.
My doctor said I have to lose weight.
My doctor says I must not eat gluten.
She told me I must not eat gluten.
In the game I want to learn to swim.
People who want to lose weight should walk.
You want to lose weight.
Sometimes I want to quit smoking.
I want you to lose weight.
I need to lose this argument.
I need to get better at this level.
I need to drink more water today.
I'm trying to find my keys.
I'm trying to sleep.
I'm trying to work.
I'm trying to get into the building.
I'm trying to stay awake.
I'm trying to read your message.
I'm preparing for dinner.
I'm training for nothing.
I'm studying for fun.
I'm saving for later.
I'm saving the best for last.
I'm giving up.
I'm giving up my seat.
I'm quitting this chat.
I'm cutting down the tree.
I'm cutting back the roses.
I'm on a diet of sarcasm.
I'm on a roll.
I'm on a budget committee.
I'm not on a diet.
My budget is a mess.
I have a budget of ideas.
I can't eat another bite.
I can't eat sugar today.
I can't eat that.
I must not eat so much.
I can't drink coffee right now.
I can't drive tonight.
I can't swim in this weather.
I can't have coffee, the machine broke today.
I cannot help it.
I cannot wait.
I can't believe it.
I can't drive you home.
I'm not diabetic.
I'm blind to his faults.
I'm deaf to that.
I'm in a wheelchair race.
I'm afraid of losing you.
I'm afraid so.
I'm afraid of the answer.
I'm not afraid of dogs.
I avoid him.
I avoid the question.
I stay away from trouble.
I have to avoid traffic today.
I eat gluten.
I'd love to lose an hour here.
I'd love a burger tonight.
I'd like to learn what you think.
My goal is to finish this level.
My goal is in the second half.
My plan is to go to the park.
I don't have milk.
I never have milk at home.
I don't have bread, so I go shopping.
I can't eat fish because it is still frozen.
I want to save money on this order.
I don't drink milk straight from the carton.
I'm giving up alcohol for tonight.
"""

EVENTS_EN = """
I want to become a doctor's wife.
I need to be more patient with the printer.
I have a cat on my lap that isn't mine.
I went to Anna's party.
I want to buy a house plant.
I moved to Notion in May.
I'm thinking of moving to Spain.
I have a cat person for a boss.
I'm turning 30 next year.
I moved to the sofa.
I moved to strike the motion.
I moved to Windows last year.
I have asthma medication for my son.
We moved to Kubernetes last month.
We moved to Postgres last month.
I moved to Slack.
I moved to Gmail.
I moved to AWS.
I moved to Discord.
I moved to GitHub Actions.
I've moved to Zettlr.
I moved to Marketing.
I moved to Premium.
I moved to Plan B.
I moved to Team Blue.
I moved to Chapter 3.
I moved to Microsoft from Google.
I moved to Amazon last year.
My sister moved to Slack.
I moved to Rome for a week.
I moved to Rome to study for a year.
I moved to Rome and then back to Oslo.
I moved to Rome in 1999 and left in 2005.
I have a dog food store.
I moved to Amazon Seattle.
I moved to Cambridge Analytica.
I moved to Phoenix LiveView.
I was trying to lose weight last year.
I tried to learn Spanish once.
I'm preparing for the meeting tomorrow.
I'm preparing for my exam tomorrow.
I'm saving a seat for Anna.
My budget meeting is at noon.
I've quit the job.
I have to avoid nuts and bolts on the floor.
I want to pass the test cases before lunch.
"""
"""What tells something of the moment, but no home, work, pet, goal or taste."""

NEGATIVE_ZH = """
我住在哪里？
我住在北京吗？
如果我住在北京就好了。
要是我会说法语就好了。
我希望我是医生。
我想去日本。
我可能会搬到上海。
他说我住在杭州。
她说：“我是护士。”
妈妈说我喜欢吃糖。
我听说他住在南京。
我是说你没听懂。
我是认真的。
我是开玩笑的，我是医生。
我是你的朋友。
我是好人。
我是第一次来。
我是外地人。
我是老师的学生吗？
我叫他来吃饭。
我叫了外卖。
我叫出租车。
我叫不出名字。
我叫醒了弟弟。
我叫保安来。
叫我起床。
叫我一声。
我喜欢你。
我喜欢它。
我喜欢这个。
我喜欢的是那种感觉。
我爱你。
我爱死了。
我不喜欢他。
我讨厌你。
我讨厌这样。
我喜欢上了他。
我没有狗。
我不是医生。
我没结婚。
我对他过敏。
我对这件事很敏感。
我不对花生过敏。
我对花生不过敏。
我在家工作。
我在努力工作。
我在这里上班。
我住在这里。
我住在酒店。
我住在五楼。
我搬到了楼上。
我搬到新家了。
我去过那里。
我去了超市。
我梦见我住在巴黎。
假装我是医生。
请翻译：我住在东京。
写一篇故事，我是国王，我住在巴黎。
小时候我喜欢画画。
也许我对牛奶过敏。
好像我是外星人。
我以为我是老师。
你觉得我是医生吗？
我长大后是医生。
我妹妹想当护士。
我妹妹是不是护士？
我妹妹很可爱。
我朋友的妹妹是护士。
他妹妹是护士。
我今年很忙。
我喜欢的人住在北京。
我有一个朋友，住在北京。
我30岁的时候去了法国。
我快30岁了。
我会说到做到。
我会说服他的。
我会打电话给你。
我最喜欢的是你。
我的名字很难写。
我姐姐不是护士。
我妈妈不是医生。
我爸爸没在上海工作。
我哥哥不住在北京。
我姐姐说她是护士。
我姐姐并不是护士。
我爸爸从来不是军人。
我姐姐小红不是护士。
我爸爸可不是医生。
我弟弟马上是医生了。
我姐姐曾是护士。
我姐姐没有在腾讯工作。
我妈从不住在上海。
我爸爸白天在银行工作。
我妈妈高兴在医院工作。
我姐姐老公是医生。
我姐姐小孩是医生。
我弟弟高二住在北京。
我姐姐对花生不过敏。
我在医院没当护士。
我想吃汉堡。
我想喝咖啡。
我想回家。
我想睡觉了。
我想知道答案。
我今晚想早睡。
我今天要少吃甜食。
我想减肥吗？
我不想减肥。
我该不该减肥？
如果我想减肥就好了。
他想减肥。
我妈妈说我要减肥。
我朋友在减肥。
我可能要考研。
我以前想减肥。
我曾经想戒烟。
我想减肥，算了。
我在考虑减肥。
我在考虑买房。
我考虑一下。
我在准备晚饭。
我准备出门。
我准备好了。
我打算明天早睡。
我打算去公园。
我计划一下行程。
我想要一杯奶茶。
我不知道要不要戒烟。
我怕你。
我怕麻烦。
我怕迟到。
我不怕狗。
我不恐高。
我不能吃亏。
我不能喝了。
我吃不了这么多。
预算有限。
我的预算是多少？
我在学校准备考试的东西。
我减肥失败了。
我在准备考试卷子。
我想少吃一点。
我想学会放弃。
我没有预算。
如果我搬到成都，我就养一只猫。
要是我中了奖，我就买一套房子。
假如我住在海边，我每天去冲浪。
我差点买了一辆车。
我没去过敦煌，听说很漂亮。
我老公说他明天去上海。
他们去年结婚了。
我觉得我妹妹很聪明。
我在想要不要买一台电脑。
我应该去参加那个培训吗？
我每天都很累。
我刚到家，累死了。
我到了才发现没带钱包。
我去了一趟超市买了点菜。
我去看看。
我买的那件衣服太大了。
我做了一个梦，梦到去了月球。
我们公司上个月搬家了。
我有点怕自己得癌症。
我女儿问我什么是黑洞。
我猫今天不吃东西，五岁了。
我同事的老公是医生。
我老婆的妹妹在上海当老师。
我哥哥的女儿考上了复旦大学。
我在北京出差，晚上想吃烤鸭。
我要一杯拿铁，少糖。
我加入购物车了但是付不了款。
我换了三个客服都没解决。
我提了一个建议，没人理。
我开了一个玩笑。
我画了一张图，你看看。
我得到的答案是错的。
我明天要早起。
我下周要交论文。
以前我住在天津。
我当年在部队当过兵。
我是狮子座。
我是说我住在杭州的时候。
我不能吃了，太饱了。
我皮肤过敏，脸红。
我奶奶走了三步就累了。
老师说我下学期要转班。
我们班有四十个人。
我的电话没电了。
刚去超市买了一个西瓜。
每天都有人问我这个问题。
昨天老板请客，去吃了火锅。
身高一米八以上才能报名。
那我们国庆去桂林玩吧。
我先去洗澡了，晚点聊。
我同桌考了第一名，我才第十。
我买了两张电影票，你去不去？
我手机上周坏了。
我买了菜，准备做饭。
你是我的病人，我是一名医生。
我们来玩角色扮演，我是国王，我有三个女儿。
帮我写一封请假信，就说我发烧住院了。
请总结下面这篇文章：我出生在甘肃，我父亲是矿工。
他跟我说：“我下个月结婚。”
难道我买了一台假手机？
我住在北京，对吗？
我又不是医生，怎么知道你得了什么病。
"""


def rows(text: str) -> list[str]:
    """The lines of a list."""
    return [line for line in text.strip().splitlines() if line.strip()]
