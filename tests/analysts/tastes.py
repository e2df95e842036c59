"""What people like, avoid and may not, in sentences of our own, and what must not be taken for it.

TASTES: sentence | attribute: value [; attribute: value …]. NO_TASTES: sentences that tell no taste of the speaker.
"""

# ruff: noqa: E501  (a row is read in one piece)

TASTES = """
I avoid cafés near schools, stations or offices because the noise tires me. | avoids: cafés near schools, stations or offices
I avoid restaurants that only serve buffets, as I never know what is in the food. | avoids: restaurants that only serve buffets
I strictly avoid any sauce that contains peanuts or sesame. | avoids: any sauce that contains peanuts or sesame
I always avoid driving after dark due to my eyesight. | avoids: driving after dark
I like strategy puzzles or word puzzles for one. | likes: strategy puzzles or word puzzles for one
I love slow films about small towns in the north. | likes: slow films about small towns in the north
I really enjoy cooking Thai food with fresh herbs from my garden. | likes: cooking Thai food with fresh herbs from their garden
I like to paint old boats at the harbour. | likes: painting old boats at the harbour
I'm a big fan of crime novels set in Iceland, Norway, or Scotland. | likes: crime novels set in Iceland, Norway, or Scotland
I'm keen on museums with a quiet garden. | likes: museums with a quiet garden
I'm fond of large birds like herons and cranes. | likes: large birds like herons and cranes
I have a soft spot for rescue greyhounds. | likes: rescue greyhounds
I have a weakness for salted liquorice and dark chocolate. | likes: salted liquorice and dark chocolate
I love the smell of fresh bread in the morning. | likes: the smell of fresh bread in the morning
I love it when a book starts in the middle of a quarrel. | likes: it when a book starts in the middle of a quarrel
I like my coffee black and very strong. | likes: their coffee black and very strong
I like hiking, pottery and rowing. | likes: hiking; likes: pottery; likes: rowing
I dislike hotels with carpets and prefer small guest houses by the sea. | dislikes: hotels with carpets; prefers: small guest houses by the sea
I hate crowded beaches but love empty lakes. | dislikes: crowded beaches; likes: empty lakes
I don't like horror films (or anything with ghosts in it). | dislikes: horror films (or anything with ghosts in it)
I dislike large trucks like those of my neighbour's company. | dislikes: large trucks like those of their neighbour's company
I detest small talk with strangers on trains. | dislikes: small talk with strangers on trains
I can't stand perfume in lifts or other closed rooms. | dislikes: perfume in lifts or other closed rooms
I hate when people chew with an open mouth. | dislikes: when people chew with an open mouth
I don't like it when meetings start late. | dislikes: it when meetings start late
I hate people who whistle in the office. | dislikes: people who whistle in the office
I'm not a fan of open kitchens in small flats. | dislikes: open kitchens in small flats
I'm not keen on flights with more than one stop. | dislikes: flights with more than one stop
I am not interested in team sports or fantasy leagues. | dislikes: team sports or fantasy leagues
I have no interest in celebrity gossip. | dislikes: celebrity gossip
I really have no interest in owning a car in the city. | dislikes: owning a car in the city
I have no patience for apps that ask for a phone number. | dislikes: apps that ask for a phone number
I can't be doing with long queues and loud music. | dislikes: long queues and loud music
I am sick of puppy pictures in my feed. | dislikes: puppy pictures in their feed
I'm tired of recipes that begin with a life story. | dislikes: recipes that begin with a life story
I have a fear of cats and large dogs. | afraid_of: cats and large dogs
I have a phobia of lifts without a window. | afraid_of: lifts without a window
I'm terrified of snakes and of anything that moves like one. | afraid_of: snakes and of anything that moves like one
I'm scared of deep lakes where the ground can't be seen. | afraid_of: deep lakes where the ground can't be seen
I prefer trains to planes for trips inside Europe. | prefers: trains to planes for trips inside Europe
I prefer to sit by the aisle rather than at the window. | prefers: to sit by the aisle rather than at the window
I prefer not to talk on the phone before noon. | prefers: not to talk on the phone before noon
I generally prefer plays over films, especially comedies. | prefers: plays over films, especially comedies
I'd rather walk than take a taxi. | prefers: to walk rather than take a taxi
I would rather read a paper book than listen to an audiobook. | prefers: to read a paper book rather than listen to an audiobook
I'd rather not share a room with colleagues. | prefers: not to share a room with colleagues
I would prefer a ground floor flat with a garden. | prefers: a ground floor flat with a garden
I refuse to fly with airlines that charge for water. | avoids: flying with airlines that charge for water
I absolutely refuse to wear wool or anything scratchy. | avoids: wearing wool or anything scratchy
I will not stay in hostels with shared bathrooms. | avoids: staying in hostels with shared bathrooms
I won't eat anything with coconut in it. | avoids: anything with coconut in it
I don't eat pork or shellfish for religious reasons. | avoids: pork or shellfish for religious reasons
I can't eat anything with seeds due to a bowel disease. | avoids: anything with seeds
I'm not allowed to drink grapefruit juice or strong coffee. | avoids: grapefruit juice or strong coffee
I stay away from mountain roads in winter for cost and safety reasons. | avoids: mountain roads in winter for cost and safety reasons
I steer clear of shops that play music. | avoids: shops that play music
I only ever drink decaf after lunch. | does: only ever drinks decaf after lunch
I only ever buy second-hand furniture made of wood. | does: only ever buys second-hand furniture made of wood
Camping is not for me. | dislikes: camping
Big cruise ships are not for me at all. | dislikes: big cruise ships
Nothing with mushrooms, ever. | avoids: anything with mushrooms
I don't do roller coasters or anything that spins. | avoids: roller coasters or anything that spins
We love old board games that take a whole evening. | likes: old board games that take a whole evening
We avoid hotels without a lift since my mother is in a wheelchair. | avoids: hotels without a lift
i hate loud restaurants where you have to shout | dislikes: loud restaurants where you have to shout
i love spicy noodles w lots of garlic lol | likes: spicy noodles w lots of garlic
i dont like olives or capers on pizza | dislikes: olives or capers on pizza
im not a fan of modern art tbh | dislikes: modern art
cant stand people who are late all the time | dislikes: people who are late all the time
not a fan of beach holidays at all | dislikes: beach holidays
not really into superhero movies or sequels | dislikes: superhero movies or sequels
hate mushrooms in soup | dislikes: mushrooms in soup
i prefer tea w oat milk over coffee haha | prefers: tea w oat milk over coffee
id rather stay home than go clubbing | prefers: to stay home rather than go clubbing
i refuse to use self checkout machines in shops | avoids: using self checkout machines in shops
i wont watch films with subtitles | avoids: watching films with subtitles
nothing with raw onion, ever!! | avoids: anything with raw onion
yoga isnt for me honestly | dislikes: yoga
escape rooms are so not for me | dislikes: escape rooms
i have zero interest in crypto or nfts | dislikes: crypto or nfts
ive no interest in golf whatsoever | dislikes: golf
i cant be doing with subscription boxes | dislikes: subscription boxes
sick of meal kits n cold coffee | dislikes: meal kits n cold coffee
im so fed up with delayed buses in my town | dislikes: delayed buses in their town
i have a huge fear of heights and open stairs | afraid_of: heights and open stairs
i only ever wear black jeans and plain shirts | does: only ever wears black jeans and plain shirts
i avoid dairy, gluten and sugar | avoids: dairy, gluten and sugar
i avoid big supermarkets on saturdays bc of the crowds | avoids: big supermarkets on saturdays
i steer clear of anything with blue cheese in it, makes me ill | avoids: anything with blue cheese in it
i dont drink cows milk or anything fizzy | avoids: cows milk or anything fizzy
i cant have anything with soy or nuts | avoids: anything with soy or nuts
i really love rainy sundays with a good crime show and no phone | likes: rainy sundays with a good crime show and no phone
i hate flying and prefer night trains with a bunk | dislikes: flying; prefers: night trains with a bunk
i love sushi, hate oysters | likes: sushi; dislikes: oysters
not keen on group tours, prefer to wander around alone | dislikes: group tours; prefers: to wander around alone
i like dogs that are calm n dont bark | likes: dogs that are calm n dont bark
i dont do spicy food or buffets | avoids: spicy food or buffets
i have an aversion to strong smells like fish or bleach | dislikes: strong smells like fish or bleach
i enjoy podcasts about ancient rome, the sea or maps any tips? | likes: podcasts about ancient rome, the sea or maps
I prefer hotels near the station to those by the airport. | prefers: hotels near the station to those by the airport
I don't mind dogs but I dislike small dogs like pugs that bark all night. | dislikes: small dogs like pugs that bark all night
I like both tea and coffee, but never after six. | likes: both tea and coffee, but never after six
I would rather pay more for shoes that can be repaired than buy new ones. | prefers: to pay more for shoes that can be repaired rather than buy new ones
I love all kinds of cheese apart from blue ones. | likes: all kinds of cheese apart from blue ones
I like to read, go for walks, and spend time at the lake. | likes: reading, going for walks, and spending time at the lake
I'm not a morning person and hate early meetings. | dislikes: early meetings
I've never liked dogs off the lead, especially on the beach. | dislikes: dogs off the lead, especially on the beach
I don't like crowds, noise, bright lights. | dislikes: crowds, noise, bright lights
I can't tolerate lactose or more than a little fat. | cannot: tolerate lactose or more than a little fat
My doctor says I must not eat liquorice because of my blood pressure. | avoids: liquorice
i dislike veg thats overcooked, like sprouts, cabbage or kale | dislikes: veg thats overcooked, like sprouts, cabbage or kale
hate gyms love hiking | dislikes: gyms; likes: hiking
i prefer not eating meat but fish is ok | prefers: not eating meat
my tv broke and i hate shops, i only ever order online | dislikes: shops; does: only ever orders online
"""

NO_TASTES = """
Do I like jazz or blues? | What should I avoid when I fly with a baby? | Would I prefer the sea or the hills?
Is camping not for me? | do i hate mornings or what? | why do people love reality shows so much?
My wife hates hotels without a pool. | My boss refuses to work with people from other teams.
My daughter won't eat anything green. | my flatmate has no interest in cleaning the kitchen. | my dad is sick of the cold.
She avoids lifts and prefers the stairs. | Tom would rather walk than drive. | He said I hate opera.
I'd like a table by the window tonight. | I'd rather have the soup today. | I'd prefer an earlier train tomorrow.
I will not come to the party on Friday. | I won't be late. | I refuse to believe that. | I'd rather not say.
I don't like this one, show me another. | I prefer the second option. | I can't eat that much. | I love it here.
If I hated dogs I would not live here. | Imagine I refuse to fly with cheap airlines. | Suppose I avoid all sugar.
Maybe I would love sailing in the summer. | I wish I liked olives. | I might prefer tea. | I am sick today.
I have no interest in this one. | I'm not interested in that offer, thanks. | I hate to say it.
I only ever wanted to help. | Nothing with the printer works. | This flat is not for me.
I avoided the question. | Avoid the motorway, please. | I love you and the kids. | I'm a fan of yours.
I hate to break it to you, but the file is empty. | i like that you remember things | i like the blue one more | I would like to know what to avoid. | I'm tired of discussing it. | I can't stand up.
"""
