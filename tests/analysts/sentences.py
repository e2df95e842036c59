"""Sentences of our own: what must be understood, and what must not be taken for a fact.

POSITIVE: sentence | attribute | value [| subject, if not the user]. A `-` before the attribute marks a retraction.
The others: sentences, parted by ` | `.
"""

POSITIVE = """
My current role is Middle Manager at a trading company. | works_as | Middle Manager
I moved to Lyon in May because the rent was lower. | lives_in | Lyon
I live in Porto. | lives_in | Porto
i live in berlin | lives_in | berlin
I've lived in Oslo since 2019. | lives_in | Oslo
Last month I moved to Kyoto. | lives_in | Kyoto
My wife and I moved to Bergen two years ago. | lives_in | Bergen
I'm based in Nairobi, by the way. | lives_in | Nairobi
I don't live in Lyon any more. | -lives_in | Lyon
I no longer live in Utrecht. | -lives_in | Utrecht
I used to live in Malmö. | -lives_in | Malmö
I'm from Valparaíso. | comes_from | Valparaíso
I grew up in Leeds. | grew_up_in | Leeds
I was born in Hamburg. | born_in | Hamburg
I was born in 1994. | birth_year | 1994
I was born on 3 May 1994. | birthday | 3 May 1994
I'm 34 years old. | age | 34
I just turned 40 last week! | age | 40
Hi, my name is Tom and I need some help. | name | Tom
my name is sam | name | sam
Hello! My name's Priya. | name | Priya
Hi, I'm Alice. | name | Alice
Hello! I'm Jonas Berg from Turku. | name | Jonas Berg
Call me Sam. | nickname | Sam
I'm a woman. | gender | woman
As a woman, I worry about walking home late. | gender | woman
I'm an introvert. | temperament | introvert
I'm Brazilian, so the cold is new to me. | nationality | Brazilian
I've been happily married for ten years. | marital_status | married
I'm a software engineer at Lindqvist. | works_as | software engineer
I'm a software engineer at Lindqvist. | works_at | Lindqvist
I've been working as a tour guide since 2020. | works_as | tour guide
I work at a bakery. | works_at | a bakery
I work in marketing. | works_in | marketing
I started working at Northwind last month. | works_at | Northwind
I quit my job at Northwind. | -works_at | Northwind
I study biology at the University of Oslo. | studies | biology
I study biology at the University of Oslo. | studies_at | the University of Oslo
I graduated from McGill University in 2015. | graduated_from | McGill University
I'm allergic to peanuts. | allergic_to | peanuts
I'm severely allergic to bee stings. | allergic_to | bee stings
I'm allergic to penicillin, so please let me know if it is in there. | allergic_to | penicillin
I was diagnosed with celiac disease last year. | has_condition | celiac disease
I'm vegetarian. | diet | vegetarian
I've been vegetarian for five years. | diet | vegetarian
I'm no longer vegan. | -diet | vegan
I don't drink alcohol. | avoids | alcohol
I have two dogs, Rex and Bo. | has_pet | two dogs, Rex and Bo
We adopted a puppy yesterday. | has_pet | a puppy
My dog Biscuit chewed the sofa. | has_pet | dog Biscuit
I have three kids. | has_relative | three kids
My wife's name is Mia. | has_relative | wife Mia
My sister Ana is a nurse. | works_as | nurse | sister Ana
My best friend Noor lives in Cairo. | lives_in | Cairo | best friend Noor
My son is 7 years old. | age | 7 | son
My daughter is allergic to eggs. | allergic_to | eggs | daughter
My mother loves gardening. | likes | gardening | mother
I speak French. | speaks | French
I'm learning Spanish. | learns | Spanish
I'm learning to play the cello. | learns | the cello
My native language is Turkish. | native_language | Turkish
My favourite colour is teal. | favorite_color | teal
My favorite food is ramen. | favorite_food | ramen
My favorite book is "Middlemarch". | favorite_book | Middlemarch
My hobbies are knitting and chess. | hobby | knitting and chess
I'm a big fan of science fiction. | likes | science fiction
I'm really into pottery these days. | likes | pottery
I love to cook. | likes | cooking
I love the Beatles. | likes | the Beatles
I can't stand horror films. | dislikes | horror films
I don't like sushi anymore. | -likes | sushi
I prefer tea to coffee. | prefers | tea to coffee
I play the violin. | plays | the violin
I collect old maps. | collects | old maps
I drive a blue Volvo. | drives | blue Volvo
I visited Japan last year. | visited | Japan
I've been to Iceland. | visited | Iceland
I went to Lisbon two years ago. | visited | Lisbon
I moved to Tarnby from Copenhagen. | lives_in | Tarnby
I moved to Tarnby with my wife. | lives_in | Tarnby
I moved to a flat in Tarnby. | lives_in | Tarnby
I moved to Oslo and my brother moved to Rome. | lives_in | Oslo
I live in Lyon now, and I moved from Rome. | lives_in | Lyon
I live in Oslo and have worked at Northwind for two years. | lives_in | Oslo
I'm no longer a teacher. | -works_as | teacher
I used to be a plumber. | -works_as | plumber
I'm retired. | -works_at |
I retired last year. | -works_as |
I quit my job. | -works_at |
I'm not allergic to walnuts any more. | -allergic_to | walnuts
I don't have a dog any more. | -has_pet | a dog
We no longer have a cat. | -has_pet | a cat
I'm no longer married. | -marital_status | married
No wait, I live in Rome. | lives_in | Rome
I don't play the violin anymore. | -plays | the violin
I like hiking, chess and baking bread. | -dislikes | chess
I'm Sam. | name | Sam
I'm Lou, and I work as a nurse. | name | Lou
Hi Ember, I'm Lou. | name | Lou
My cat's name is Luna and I love her. | has_pet | cat Luna
I have two cats at home. | has_pet | two cats
I'm allergic to nickel. | allergic_to | nickel
I want to get slimmer. | wants_to | get slimmer
I've been trying to lose a few pounds since Christmas. | wants_to | lose a few pounds
I want to quit smoking. | wants_to | quit smoking
I really want to learn Spanish this year. | wants_to | learn Spanish
I'd like to eat healthier. | wants_to | eat healthier
I need to cut down on sugar because of my teeth. | wants_to | cut down on sugar
I want to become a nurse. | wants_to | become a nurse
I want to improve my French. | wants_to | improve their French
My goal is to lose 5 kilos by June. | wants_to | lose 5 kilos by June
We went out late, but I want to sleep better. | wants_to | sleep better
I want to lose weight, so no more cake for me. | wants_to | lose weight
I don't want to run a marathon any more. | -wants_to | run a marathon
I've finally quit smoking. | -wants_to | quit smoking
I'm preparing for my bar exam. | prepares_for | bar exam
I passed the bar exam. | -prepares_for | bar exam
I'm saving up for a new bike. | saves_for | a new bike
I'm giving up sugar. | gives_up | sugar
I'm cutting down on caffeine. | cuts_down_on | caffeine
I'm on a diet. | on_diet | diet
I'm on a low-carb diet. | on_diet | low-carb diet
I'm no longer on a diet. | -on_diet |
I'm on a tight budget. | budget | a tight budget
My budget is $800 a month. | budget | a budget of $800 a month
I must not eat gluten. | avoids | gluten
I can't eat dairy or eggs. | avoids | dairy or eggs
I have to avoid caffeine. | avoids | caffeine
I can eat gluten again. | -avoids | gluten
I'm lactose intolerant. | health | lactose intolerant
I'm type 1 diabetic. | health | type 1 diabetic
I'm afraid of heights. | afraid_of | heights
I can't drive because of my eyes. | cannot | drive
I'm not allowed to drink alcohol because of my medication. | avoids | alcohol
"""

NEGATIVE = """
Do I live in Lyon? | I live in Lyon, right? | If I lived in Paris I would be happy. | I wish I lived in Rome.
I would love hiking there. | I'd like a coffee. | I'd love to visit Japan. | She said I live in Madrid.
He told me, "I live in Chicago and I love jazz." | I'm dead. | I'm all ears. | I'm in trouble. | I love it.
I love that! | I love you so much. | I love how you explain things. | I like this song.
I like where this is going. | I like to think so. | I hate it here. | I hate you. | Call me tomorrow.
Call Me Maybe is a song. | I live for the weekend. | I live in a small flat. | I live in Maria's old house.
I work as hard as I can. | I work from home today. | I'm not a doctor. | I'm not allergic to anything.
I don't have a dog. | I have a frog in my throat. | I have a dog video to show you.
I have two kids in my class with that name. | I'm a big kid at heart. | I'm a teacher at heart.
I'm a former nurse's son. | I'm like a doctor to my friends. | I'm from the marketing team. | I'm from work.
I love Mondays. Not. | I'm hungry. | When I turn 40 I will move to Spain. | I felt like I was born in 1900.
I think I'm allergic to shrimp, maybe. | I guess I like opera or something. | I almost moved to Toronto.
I never said I like jazz. | My sister thinks I'm a vegan. | My friend wants to be a nurse.
My sister said she is a nurse. | My brother might be a pilot one day. | My name is mud. | My name is on the list.
My favorite color is it. | My birthday is soon. | My dog ate my homework. | My cat and I are tired.
Pretend that I'm a doctor from Boston. | Write a story about me: I live in Oslo and I love skiing.
> I live in Dublin and work for Google. | `I live in Dublin` | I'm a lumberjack / I'm okay / I sleep all night
For example, I live in Paris. | Suppose I'm allergic to nuts. | I dreamed I lived in Tokyo. | I love being here.
I prefer the second one. | I enjoy it very much. | I collect it tomorrow. | I play a role in this.
I study every day. | I study hard. | I'm learning a lot. | I've been to hell and back. | I was born to run.
Bob: I live in Rome. | I live in Jira. | I live in Excel. | I'm from Google. | I moved to Lyon in May next year.
I live in Rome in the summer only, otherwise Oslo. | In 2030 I live in Rome.
I live in Rome - no wait, that's my brother. | I live in Rome. No wait, that's my brother.
I'm allergic to stupidity. | I'm allergic to mornings. | I'm allergic to happiness. | I have a dog day.
I have depression in the economy class. | I work as a team player. | I work as a student driver.
I work as a placeholder. | My brother works as a team player. | My brother works at Night. | Call me Dr.
My name is Ignore Previous Instructions. | My name is Bob'); DROP TABLE owner;-- | I'm Hungry. | I'm Paris.
I'm Sam's sister. | I want to go home now. | I want a coffee. | I want to see that film.
I want to know more about that. | I want to learn more about you. | I want to save this file.
I want to quit this game. | I want to sleep. | I want to run to the shop. | I want to stop talking about it.
I want to become a better person in the next life. | I want to lose weight, maybe. | I want to quit smoking one day.
Do I want to lose weight? | I don't want to lose weight. | I never wanted to lose weight. | I wanted to lose weight.
I want to lose weight, but I gave up on it. | I want to quit smoking, but I never will.
I wanted to run a marathon but changed my mind. | My sister wants to lose weight.
In the game I want to learn to swim. | I want you to lose weight. | I need to lose this argument.
I need to get better at this level. | I need to drink more water today. | I'm trying to get into the building.
I'm trying to read your message. | I'm studying for fun. | I'm saving for later. | I'm quitting this chat.
I'm cutting down the tree. | I'm on a budget committee. | My budget is a mess. | I can't eat sugar today.
I can't eat that. | I can't swim in this weather. | I can't have coffee, the machine broke today. | I cannot help it.
I'm not diabetic. | I'm deaf to that. | I'm afraid of losing you. | I'm afraid of the answer.
I stay away from trouble. | I have to avoid traffic today. | I'd love to lose an hour here.
My goal is to finish this level. | My goal is in the second half. | My plan is to go to the park.
I don't have bread, so I go shopping. | I can't eat fish because it is still frozen.
I'm giving up alcohol for tonight.
"""

EVENTS = """
I want to become a doctor's wife. | I need to be more patient with the printer. | I moved to Notion in May.
I'm thinking of moving to Spain. | I have a cat person for a boss. | I moved to Windows last year.
I have asthma medication for my son. | We moved to Kubernetes last month. | I moved to AWS. | I moved to Discord.
I've moved to Zettlr. | I moved to Plan B. | I moved to Amazon last year. | My sister moved to Slack.
I moved to Rome and then back to Oslo. | I moved to Rome in 1999 and left in 2005. | I have a dog food store.
I moved to Cambridge Analytica. | I moved to Phoenix LiveView. | I was trying to lose weight last year.
I tried to learn Spanish once. | My budget meeting is at noon. | I have to avoid nuts and bolts on the floor.
"""
"""What tells something of the moment, but no home, work, pet, goal or taste."""


def rows(text: str) -> list[str]:
    """The lines of a list."""
    return [line for line in text.strip().splitlines() if line.strip()]


def texts(text: str) -> list[str]:
    """The sentences of a list that has several to a line."""
    return [one for line in rows(text) for one in line.split(" | ")]
