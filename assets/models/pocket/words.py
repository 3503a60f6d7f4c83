"""The words of the stories that pocket is trained on: people, animals, things, places and how they are."""

# name, gender, pet, job, favorite thing, food, place, color
PEOPLE = """
Anna    she  cat      baker      ribbon   bread    kitchen  red
Mia     she  rabbit   painter    brush    soup     garden   blue
Lucy    she  horse    farmer     bucket   milk     field    brown
Emma    she  parrot   teacher    book     cake     school   green
Rosa    she  goat     singer     drum     honey    market   yellow
Clara   she  dog      doctor     lamp     tea      hill     white
Nora    she  duck     sailor     boat     fish     lake     grey
Lily    she  hen      gardener   basket   apples   orchard  pink
Sara    she  pony     tailor     needle   rice     shop     purple
Ella    she  mouse    writer     letter   pie      library  golden
Jane    she  owl      miller     bell     cheese   mill     black
Kate    she  sheep    shepherd   stick    porridge meadow   silver
Mary    she  lamb     nurse      blanket  jam      village  orange
Alice   she  turtle   builder    ladder   nuts     forest   red
Tom     he   dog      sailor     rope     fish     harbour  blue
Ben     he   pony     farmer     cart     cheese   farm     brown
Max     he   parrot   painter    kite     cake     beach    yellow
Leo     he   cat      singer     flute    honey    park     orange
Paul    he   sheep    shepherd   whistle  milk     mountain white
Jack    he   goat     builder    hammer   pie      bridge   black
Sam     he   duck     fisher     net      soup     river    green
Peter   he   rabbit   gardener   spade    carrots  garden   red
Oscar   he   turtle   doctor     clock    tea      tower    grey
Hugo    he   horse    miller     sack     bread    mill     golden
Adam    he   mouse    writer     pencil   nuts     library  purple
John    he   owl      teacher    map      porridge school   silver
Felix   he   hen      baker      spoon    jam      kitchen  pink
Daniel  he   lamb     driver     wheel    rice     station  green
"""

# Work of each trade
ACTS = {
    "baker": ["baked the bread", "mixed the flour", "lit the oven"],
    "painter": ["painted the wall", "mixed the colours", "drew a picture"],
    "farmer": ["milked the cow", "cut the hay", "fed the pigs"],
    "teacher": ["wrote on the board", "read to the children", "asked a question"],
    "singer": ["sang a song", "played the drum", "danced in the square"],
    "doctor": ["healed the sick man", "washed the wound", "visited the old woman"],
    "sailor": ["raised the sail", "tied the boat", "watched the waves"],
    "gardener": ["watered the flowers", "dug the ground", "planted a tree"],
    "tailor": ["sewed a coat", "cut the cloth", "mended the shirt"],
    "writer": ["wrote a letter", "read the paper", "told a story"],
    "miller": ["ground the corn", "carried the sacks", "swept the mill"],
    "shepherd": ["counted the sheep", "led the lambs", "watched the wolf"],
    "nurse": ["made the bed", "held the baby", "warmed the milk"],
    "builder": ["built a wall", "climbed the ladder", "fixed the roof"],
    "fisher": ["caught a fish", "mended the net", "rowed to the island"],
    "driver": ["drove the cart", "fixed the wheel", "stopped the train"],
}

# animal, what it does, sound, food, home
ANIMALS = """
cat      | purred; washed its paws; chased a mouse; slept by the fire; jumped onto the chair | meowed | milk | house
dog      | wagged its tail; chased the ball; dug a hole; guarded the door; ran after the stick | barked | meat | yard
horse    | shook its head; pulled the cart; galloped over the field; kicked the gate | neighed | hay | stable
cow      | stood in the grass; gave milk; swung its tail; walked to the barn | mooed | grass | barn
goat     | ate the cloth; climbed the rock; pushed the gate; jumped over the wall | bleated | leaves | hill
sheep    | followed the shepherd; stood close together; ran from the wolf | bleated | grass | meadow
lamb     | jumped in the grass; looked for its mother; slept in the hay | bleated | milk | meadow
pig      | rolled in the mud; ate everything; slept in the straw | grunted | corn | farm
duck     | swam on the pond; shook its feathers; dived under the water | quacked | bread | pond
hen      | laid an egg; pecked at the corn; sat on the eggs | clucked | corn | yard
bird     | flew away; built a nest; sang in the tree; spread its wings | sang | seeds | tree
owl      | looked down; flew without a sound; opened its big eyes | hooted | mice | tower
parrot   | said hello; repeated every word; flew to the window | screamed | nuts | cage
rabbit   | hopped away; ate a carrot; hid in a hole; moved its ears | squeaked | carrots | garden
mouse    | hid under the table; ate the cheese; ran along the wall | squeaked | cheese | wall
pony     | trotted home; ate an apple; shook its mane | neighed | apples | stable
turtle   | walked slowly; hid in its shell; slept in the sun | sighed | leaves | pond
fox      | crept to the hens; ran into the forest; hid behind the bush | barked | hens | forest
bear     | climbed the tree; stole the honey; slept all winter; caught a fish | growled | honey | cave
wolf     | howled at the moon; followed the sheep; ran through the snow | howled | meat | forest
frog     | jumped into the pond; caught a fly; sat on a stone | croaked | flies | pond
fish     | swam away; jumped out of the water; hid under a stone | splashed | worms | river
squirrel | ran up the tree; hid a nut; jumped from branch to branch | chattered | nuts | tree
donkey   | carried the bags; stood still; would not move | brayed | hay | stable
bee      | flew to the flower; made honey; landed on the rose | hummed | honey | garden
animal   | crossed the street; ran away; looked around; stopped at the corner | cried | grass | forest
"""

PLURALS = {"mouse": "mice", "sheep": "sheep", "fish": "fish", "wolf": "wolves", "pony": "ponies", "fox": "foxes",
           "child": "children", "man": "men", "woman": "women", "brush": "brushes", "box": "boxes", "knife": "knives",
           "loaf": "loaves", "leaf": "leaves", "glass": "glasses", "bus": "buses", "baby": "babies", "city": "cities",
           "lady": "ladies", "watch": "watches", "dress": "dresses", "scarf": "scarves", "berry": "berries",
           "tomato": "tomatoes", "potato": "potatoes", "cherry": "cherries", "peach": "peaches", "dish": "dishes", "torch": "torches", "match": "matches"}

LISTS = {
    "thing": """book lamp rope bell basket bucket ball kite drum flute map key box bag coin ring hat coat shoe scarf cup
        plate spoon knife bottle candle clock mirror chair table blanket pillow pencil brush letter picture ladder hammer
        spade net boat cart wheel stick stone shell feather button needle ribbon whistle doll toy flag lantern umbrella
        glove pot pan broom nail saw axe torch wagon sack jar glass dress shirt game card newspaper""",
    "food": """bread cheese milk soup cake honey fish rice tea jam pie porridge butter salt sugar meat water juice corn
        salad pudding""",
    "fruit": """apple pear plum cherry peach orange lemon nut carrot onion potato tomato egg berry cookie""",
    "place": """garden kitchen market river hill forest school house lake beach park farm field mill bridge tower harbour
        village town city shop station library meadow orchard barn stable castle church mountain island cave road street
        square pond well gate roof yard room hall sea shore valley path camp hospital museum""",
    "indoor": "kitchen room hall house barn shop school tower mill library",
    "adj": """small big old new little red blue green white black brown long round heavy light warm cold soft hard bright dark
        beautiful strange empty full clean dirty broken golden wooden silver tiny huge shiny quiet pretty simple famous
        thin thick sweet dry wet""",
    "look": """small big old little black brown white grey beautiful strange hungry young fat thin quiet wet dirty clean huge
        tired lazy""",
    "spot": "table chair box basket blanket lamp bed door cart wheel stone sack boat ladder bench bucket clock mirror picture",
    "badly": """it\xa0was\xa0raining it\xa0was\xa0cold the\xa0wind\xa0was\xa0strong it\xa0was\xa0snowing
        the\xa0sky\xa0was\xa0grey the\xa0night\xa0was\xa0dark there\xa0was\xa0fog""",
    "trait": """kind brave clever young old tall quiet happy funny gentle strong careful proud shy busy lazy honest polite
        patient wise""",
    "feeling": """happy sad angry afraid tired hungry thirsty cold lonely proud surprised worried glad excited sorry sleepy
        bored calm sick ready""",
    "adverb": """slowly quickly quietly softly carefully loudly suddenly gently happily sadly again together alone soon
        early late at\xa0once""",
    "colour": "red blue green yellow white black brown grey pink purple orange golden silver",
    "time": """one\xa0day one\xa0morning one\xa0evening one\xa0night in\xa0the\xa0morning in\xa0the\xa0evening
        at\xa0night the\xa0next\xa0day after\xa0lunch after\xa0school before\xa0dinner last\xa0summer
        on\xa0Monday on\xa0Tuesday on\xa0Wednesday on\xa0Thursday on\xa0Friday on\xa0Saturday on\xa0Sunday
        in\xa0spring in\xa0summer in\xa0autumn in\xa0winter yesterday long\xa0ago""",
    "day": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
    "number": "two three four five six seven eight nine ten twelve twenty",
    "rel_he": "father brother uncle son grandfather",
    "rel_she": "mother sister aunt daughter grandmother",
    "man": "man king boy farmer prince soldier fisherman",
    "woman": "woman queen girl princess lady widow",
    "body": "hand head arm foot leg nose ear face back finger",
    "went": "walked ran went hurried drove walked went returned",
    "weather": """it\xa0was\xa0raining it\xa0was\xa0cold the\xa0sun\xa0was\xa0shining the\xa0wind\xa0was\xa0strong
        it\xa0was\xa0snowing the\xa0sky\xa0was\xa0grey it\xa0was\xa0hot the\xa0night\xa0was\xa0dark
        the\xa0moon\xa0was\xa0bright there\xa0was\xa0fog""",
    "saw": "saw found heard met noticed watched",
    "helped": "helped thanked called followed kissed hugged answered asked visited taught surprised missed forgave",
    "tree": "oak pine apple\xa0tree willow bush",
    "under": "under behind beside near under behind",
}


def people():
    """All people, each a dict: name, gender (she or he), pet, job, thing, food, place, color."""
    keys = ("name", "gender", "pet", "job", "thing", "food", "place", "colour")
    return [dict(zip(keys, line.split())) for line in PEOPLE.strip().splitlines()]


def animals():
    """All animals by name, each a dict: acts (list), sound, food, home."""
    table = {}
    for line in ANIMALS.strip().splitlines():
        name, acts, sound, food, home = (cell.strip() for cell in line.split("|"))
        table[name] = {"name": name, "acts": [act.strip() for act in acts.split(";")], "sound": sound, "food": food,
                       "home": home}
    return table


def lists():
    """The lists of words by name; a no-break space in the table stands for a space inside an entry."""
    table = {name: [word.replace("\xa0", " ") for word in text.split(" ") if word.strip()]
             for name, text in ((name, " ".join(text.replace("\n", " ").split(" "))) for name, text in LISTS.items())}
    table["animal"] = list(animals())
    return table


def plural(noun):
    """The plural of a noun: the irregular form if there is one, else with -s."""
    return PLURALS.get(noun, noun + "s")
