"""The sentences of the stories that pocket is trained on.

[x|y] is one of the alternatives, {slot} a word that the generator fills in. {A} and {B} are two people: {A} a name or a
pronoun, {A.o} the same as an object, {A.p} the possessive, {A.r} the reflexive, {A.n} always the name, {A.pet} and so on
the belongings of the person. {thing#1} is the same thing everywhere in one story; {things#1} is its plural."""

OPENINGS = """
{time} {A.n} [{went}|walked|came] to the {place#1} with {B.n}.
{A.n} and {B.n} [lived|worked|met|sat] [in|near|at] the {place#1}.
{A.n} was a {trait} {A.job}. {B.n} was a {B.job}.
There was a {trait} {A.job}. The name of the {A.job} was {A.n}. {A} had a {look} {A.pet} and a friend. The friend was {B.n}.
{A.n} had a {adj} {A.thing}. {B.n} had a {B.pet}.
{time}, {weather}. {A.n} and {B.n} were in the {indoor}.
{A.n} the {A.job} and {B.n} the {B.job} were friends.
{A.n} met {B.n} [near|behind|at|in] the {place#1}.
{A.n} had a {A.pet}. The {A.pet} was {look}. {B.n} lived [near the {B.place}|next door].
{A.n} lived in a {adj} house near the {A.place} with {A.p} {A.pet}. {B.n} lived in the {place#1}.
{B.n} was {feeling}. {A.n} [came|went] to [see|help|visit] {B.o}.
When {A.n} and {B.n} went to the {place#1}, {weather}.
{A.n} was [in|at] the {place#1} when {B.n} came.
The {A.job} was called {A.n}, and the {B.job} was called {B.n}.
{A.n} [called|invited|visited] {B.n} {time}.
Long ago there was a {man} with a {adj} {thing#1}. {A.n} and {B.n} knew him well.
{A.n}, a {trait} {A.job}, and {B.n}, a {trait} {B.job}, [went|walked|came] to the {place#1} together.
"""

FILLERS = """
{A} {A.act}.
{A} {A.act} [and|,] {B.n} {B.act}.
{A} {A.act}, but {B} [sat down|stood up|went away|did nothing|was not there].
{A} [loved|missed|called|fed|washed|followed|looked for] {A.p} {A.pet}.
{A} [took|opened|lost|found|held|carried|put down|wanted|needed] {A.p} {A.thing}.
{A} put on {A.p} {A.colour} [coat|hat|scarf|shirt].
{A} [ate|wanted|liked|bought|asked for] {A.food}. {B} [ate|wanted|liked|bought|asked for] {B.food}.
{A.p} {A.pet} {A.pet.act}.
{A.p} {A.pet} {A.pet.act}, and {B.p} {B.pet} {B.pet.act}.
The {A.pet} {A.pet.act} because it was {feeling}.
{A} [thought of|dreamed of|went to|ran to|came from] the {A.place}.
{A} [smiled|laughed|waited|nodded|sighed|sat down|stood up|looked around|closed {A.p} eyes|shook {A.p} head|turned around].
{A} [looked at|smiled at|waited for|listened to|laughed at|waved to|walked with|talked to|sat next to] {B.n}.
{A} {helped} {B.n}.
{A} {helped} {B.o}, and {B} {helped} {A.o}.
{A} gave {B.n} a {adj} {thing}.
{A} gave a {thing} to {B.n}, and {B.n} gave a {thing} to {A.n}.
{A} [gave|showed|brought|sold|sent] {B.o} {A.p} {A.thing}.
{B} thanked {A.n} for the {thing}.
"Thank you, {A.n}," said {B.n}.
"Come [in|here|with me|back], {A.n}," said {B.n}. "[It is|The {place} is] {adj}."
"Where is [my|the] {B.thing}, {A.n}?" asked {B.n}. "It is {under} the {spot}," said {A.n}.
"Are you {feeling#1}, {A.n}?" asked {B.n}. "[Yes, I am {feeling#1}|No, I am {feeling}]," [said {A.n}|{A} said].
{A} said, "I [want|need|like|have|see] a {adj} {thing}."
{A} said that {A} was {feeling}.
{A} said to {B.n}, "{B.n}, you are {trait}."
"I am {feeling}," said {A.n}. "So am I," said {B.n}.
"Hello, {B.n}," said {A.n}. "Hello, {A.n}," said {B.n}.
"Look!" said {A.n}. "There is a {look} {animal} {under} the {spot}."
{A} asked {B.n} for [a {thing}|some {food}|help|{B.p} {B.thing}].
{A} was {feeling}, so {A} [went home|sat down|ate some {food}|went to bed|drank some water|slept|cried|laughed|sang a song].
{A} was {feeling} because [{weather}|{B.n} was {feeling}|the {thing} was broken|{A.p} {A.pet} was {feeling}].
{A} was not {feeling}, but {B} was.
{A} did not [know|see|hear|like|want] the {thing}.
Then {A} {went} to the {place}.
{A} [walked|went|ran|drove] {adverb} to the {place}, and {B} {went} to the {place}.
{A} {went} home with {A.p} {A.pet}.
{A} [walked|ran|went|hurried|climbed|rode] [through|past|along|behind|across] the {place} [and|until {A}] {saw} a {look} {animal#2}. The {animal#2} {animal#2.act}.
{badly}, so {A} stayed [in the {indoor}|at home].
{badly}, but {A} [went|walked|ran] out.
When {badly}, {A} [closed the window|lit a [lamp|candle|lantern|fire]|put on a {thing}|stayed inside|went to bed].
{A} did not cross the street because {A} was too [tired|afraid|slow|old].
The {animal#3} did not cross the [street|road|river|bridge|field|square|lake] because it was too [tired|wide|afraid|busy|small|dark|hungry|old].
The {thing#3} did not fit into the {thing#4} because it was too [big|small|long|wide|round].
The {animal} sat down.
The {animal#3} sat down and {animal#3.act}.
The {animal#3} {animal#3.sound} and the {animal#4} {animal#4.sound}.
The {animal#3} that lived in the {place} {animal#3.act}.
The {animals#3} [near|in|behind] the {place} were {feeling}.
The {animal#3} [near|in|behind] the {place} was {feeling}.
The {things} [on|under|near] the {thing} were {adj}.
The {thing} [on|under|near] the {things} was {adj}.
The {things} of the {man} were {adj}.
The {woman} who lived near the {place} [sold|bought|made|carried] {things}.
The {man} who had the {thing} was {feeling}.
The {adj} {thing} was {under} the {adj} {spot}.
There was a {adj} {thing} {under} the {spot}.
There were {number} {animals} in the {place}.
{A} {saw} {number} {animals#3}. The {animals#3} were {feeling}.
{A} put the {thing#5} {under} the {spot}. {adverb} {A} took the {thing#5} and {went} home.
{A} took a {thing#5}, a {thing#6} and a {thing#7}.
{A} had {number} {fruits#5} and {B} had {number} {fruits#6}.
{A} bought some {food}, {number} {fruits} and a {thing}.
{A} [looked at|touched|washed|hurt] {A.p} {body}.
{A} [hurt|washed|saw|asked|helped|looked at] {A.r}.
{A} made {A.r} some {food}.
{A} knew that {B.n} was {feeling}.
{A} thought that {B} had the {thing}.
{A} wanted to [see|help|find|visit|thank|call] {B.n}.
{A} wanted to [go to the {place}|sleep|eat|sing|dance|play|read|swim|be a {A.job}].
{A} began to [cry|laugh|sing|run|read|dance|sleep|swim|work].
{A} could not [sleep|see|find the {thing}|open the [door|box|jar|window]|hear {B.n}|carry the {thing}|stop].
{A} couldn't [sleep|see {B.n}|find {A.p} {A.thing}|stop]. {A} wasn't {feeling}.
{A.p} {rel_she} [was {feeling}|came home|made some {food}|sold {things}|called {A.n}|told {A.n} a story].
{A.p} {rel_he} [was {feeling}|came home|cooked some {food}|carried the {thing}|called {A.n}|told {A.n} a story].
{A} (the {A.job}) [was {feeling}|{A.act}].
{A} [had|wore|held] a {thing} (a {adj} one).
{B.n} ({A.p} friend) {B.act}.
{A} [sang|called|said it] again and again.
{A} and {B.n} [ate some {food}|sat down|went home|were {feeling}|laughed|waited|sang together]. They [were {feeling}|talked about the {thing}|looked at the {place}].
They [both |]{went} to the {place}.
They [sat|stood] [under|behind|beside|near] the {tree}.
They ate {food} with {food}.
Every [morning|evening|day|{day}] {A} {A.act}.
On {day} {A} {A.act}, and on {day} {B} {B.act}.
After that {A} [was {feeling}|{went} home|{A.act}].
While {A} {A.act}, {B.n} {B.act}.
Before {A} {went} to the {place}, {A} {A.act}.
As soon as {A} {saw} {B.n}, {A} [smiled|ran away|stopped|laughed|waved].
When {weather}, {A} always [stayed|slept|worked] at home.
{A} liked [the {adj} {thing}|{A.food}|{B.n}|{animals}] more than [the {adj} one|{food}|{animals}].
Nobody [knew|saw|heard] {A.n}.
Everybody liked {A.n}, because {A} was {trait}.
{A} was [as|not as] {trait} as {B.n}.
{A} was so {feeling} that {A} [cried|laughed|ran home|forgot {A.p} {A.thing}].
{A} opened the door, and {B.n} came in.
{A} closed the [door|window|gate|shop|book] and opened the [box|bag|jar|basket|door].
Who [took|had|saw] the {thing#8}? {A} [took|had|saw] the {thing#8}.
What did {A.n} [see|want|find]? {A} [saw|wanted|found] a {adj} {thing}.
{A} told {B.n} [about the {thing}|a story|the truth|everything].
{A} read the {thing} to {B.n}.
{A} wrote a letter: "Dear {B.n}, I am in the {place}. [It is {adj}|I am {feeling}]. Your {A.n}"
The letter was for {B.n}. It came from {A.n}.
{A} lost the {thing#8}, and {B} found the {thing#8}.
{A} climbed the {tree} and {saw} the {place}.
The {colour} {thing} belonged to {A.n}, and the {colour} {thing} belonged to {B.n}.
Not the {thing#8} but the {thing#9} was {adj}.
The more {A} [sang|ate|ran], the more {feeling} {B} was.
"""

PLOTS = {
    "lost thing": """
{A} could not find {A.p} {A.thing}. | {A} had lost {A.p} {A.thing}. | The {A.thing} of {A.n} was gone. | "Where is my {A.thing}?" asked {A.n}.
{A} looked [in the {indoor}, {under} the {spot} and behind the {thing}|everywhere|in every room]. | {A} asked {B.n}. | "Have you seen my {A.thing}, {B.n}?" {A} asked. | {B} looked {under} the {spot}, but the {A.thing} was not there.
? {A.p} {A.pet} {A.pet.act}. | {A} began to cry. | "Don't be sad, {A.n}," said {B.n}.
Then {B} found the {A.thing} {under} the {spot}. | The {A.thing} was {under} the {spot#1}. | {A.p} {A.pet} had the {A.thing}! | In the {place} {B} {saw} the {A.thing}.
{A} was happy and thanked {B.n}. | {A} took {A.p} {A.thing} and [smiled|laughed|went home]. | "Thank you, {B.n}," said {A.n}.""",
    "gift": """
It was {A.p} birthday. | {B} wanted to give {A.n} a gift. | {A.n} was ten years old on {day}.
{B} bought a {adj} {thing#1}. | {B} made a {adj} {thing#1}. | In the shop {B} {saw} a {adj} {thing#1}.
{B} put the {thing#1} into a {adj} box. | {B} hid the {thing#1} {under} the [table|chair|bed|door|bench|blanket].
{B} gave the {thing#1} to {A.n}. | {B} gave {A.n} the {thing#1}. | {A} opened the box and {saw} the {thing#1}.
"A {thing#1}!" said {A.n}. "Thank you, {B.n}." | {A} loved the {thing#1}. | {A} [kissed|hugged|thanked] {B.n}. | {A} put the {thing#1} next to {A.p} {A.thing}.""",
    "list": """
{A} needed a {thing#1}, a {thing#2} and a {thing#3}. | {A} wrote a list: a {thing#1}, a {thing#2}, a {thing#3}. | "Bring me a {thing#1}, a {thing#2} and a {thing#3}," said {A.n}.
{B} went to the {place} with the list. | {B} read the list again: a {thing#1}, a {thing#2}, a {thing#3}. | "A {thing#1}, a {thing#2} and a {thing#3}," {B} said.
{B} bought the {thing#1}, the {thing#2} and the {thing#3}. | {B} found the {thing#1}. {B} found the {thing#2}. But {B} did not find the {thing#3}.
{B} gave {A.n} the {thing#1}, the {thing#2} and the {thing#3}. | {A} put the {thing#1}, the {thing#2} and the {thing#3} into {A.p} bag. | {A} took the {thing#1} and the {thing#2}, and {B} took the {thing#3}.""",
    "animal": """
{A} {saw} a {look} {animal#1} in the {place#1}. | A {look} {animal#1} came to {A.n}. | There was a {animal#1} [under|behind|beside|near] the {tree}.
The {animal#1} was {feeling}. | The {animal#1} {animal#1.sound}. | It had hurt its {body}. | It {animal#1.sound} because it was hungry.
{A} gave the {animal#1} some {animal#1.food}. | {B} gave it {animal#1.food} and water. | "It wants {animal#1.food}," said {B.n}.
The {animal#1} ate the {animal#1.food} and {animal#1.act}. | The {animal#1} {animal#1.act}. Then it {animal#1.act}. | Soon the {animal#1} was not {feeling} any more.
{A} called the {animal#1} {B.n}, and {B.n} laughed. | The {animal#1} went back to the {animal#1.home}. | The {animal#1} stayed with {A.n}, and {A.p} {A.pet} was {feeling}. | {A} took the {animal#1} home to the {animal#1.home}.""",
    "cooking": """
{A} wanted to cook {food#1}. | {A} and {B.n} were hungry. | {B} asked {A.n} for some {food#1}.
{A} took {number} {fruits#1}, some {food#2} and a {thing#2}. | "We need {fruits#1} and {food#2}," said {A.n}. | {A} put the {fruits#1} into the pot.
{B} cut the {fruits#1}. | {B} washed the {fruits#1}, and {A} lit the fire. | {A} mixed the {food#2} with the {food#3}.
The {food#1} was [hot|good|too sweet|ready|too salty]. | The {food#1} was cold because {A} had forgotten the fire.
They ate the {food#1} with {fruits#1}. | {A} ate {A.p} {A.food}, and {B} ate {B.p} {B.food}. | {A.p} {A.pet} ate the rest of the {food#1}.""",
    "trip": """
{A} wanted to see the {place#1}. | {A} and {B.n} went to the {place#1} by [train|bus|boat|cart|car]. | "Let us go to the {place#1}, {B.n}," said {A.n}.
{A} took {A.p} {A.thing}, and {B} took {B.p} {B.thing}. | {B} packed a {thing}, some {food} and {number} {fruits}. | The road to the {place#1} was [long|dark|wide|steep|quiet].
First they came to a {place#2}. | They [walked|rode] past the {place#2} and over the {place#3}. | {weather}, but they did not stop. | {A} was tired, so {B} carried {A.p} {thing#3}.
At last they {saw} the {place#1}. | In the {place#1} there was a {adj} {thing}. | The {place#1} was {adj} and {adj}.
{A} {saw} the {place#1} and was {feeling}. | They stayed in the {place#1} for {number} days. | {B} never forgot the {place#1}.""",
    "broken": """
{B} broke {A.p} {A.thing}. | The {A.thing} fell off the table and broke. | {A.p} {A.thing} was broken.
{A} was [sad|angry] because {A.p} {A.thing} was broken. | "Who broke my {A.thing}?" asked {A.n}. | {B} was afraid of {A.n}.
"It was me," said {B.n}. "I am sorry, {A.n}." | {B} said that {B} was sorry. | "The {B.pet} did it," said {B.n}, but it was not true.
{B} mended the {A.thing} with a {thing}. | {B} bought a new {A.thing}. | {B} gave {A.o} {B.p} {B.thing}.
{A} forgave {B.n}. | {A} was not angry any more. | So {A} had {A.p} {A.thing} again.""",
    "letter": """
A letter came to {A.n}. {B} wrote it. | A letter came from {B.n}. {A} opened it. | {A} got a letter. It was from {B.n}.
It said: "Dear {A.n}, come to the {place#1}. Your {B.n}" | "Dear {A.n}," it said, "I am {feeling}. Please bring your {thing#1}." | The letter said that {B} was in the {place#1}.
{A} read the letter [twice|again|three times]. | {A} put the letter into {A.p} [bag|pocket|book|basket|drawer]. | {A} [laughed|cried|smiled] and read the letter to {A.p} {A.pet}.
Then {A} {went} to the {place#1}. | {A} took {A.p} {A.thing} and {went} to the {place#1}. | {A} wrote back: "Dear {B.n}, I am coming."
{B} was waiting for {A.n} [under|behind|beside|near] the {tree}. | {B} was there with {B.p} {B.pet}. | "{A.n}!" {B} called. "You got my letter!" """,
    "night": """
{A} could not sleep. | There was a noise in the night. | At night {A} heard a noise in the {indoor}.
"Who is there?" asked {A.n}. Nobody answered. | {A} was afraid and called {B.n}. | {A} took a {thing} and {went} to the {indoor}.
{B} lit the lamp. | {B} woke up and [took a candle|opened the door]. | "I heard it too, {A.n}," said {B.n}.
It was only a {animal#1}. It {animal#1.act}. | A {animal#1} had come in through the window. | It was {B.p} {B.pet}. The {B.pet} {B.pet.act}. | It was only the wind.
{A} laughed and went back to bed. | "It was only the {animal#1}," {A} said to {B.n}. | They drank some {food} and slept until the morning.""",
    "race": """
{A} and {B.n} had a race to the {place#1}. | "I am faster than you, {B.n}," said {A.n}. | {A} wanted to be faster than {B.n}.
{A} ran, but {B} rode {B.p} pony. | They ran past the {place#2} and through the {place#3}. | {A} ran fast, and {B} ran faster.
? {A} fell over a stone. | {B} stopped because {B} was tired. | A {animal#1} stood on the road.
{A} won. | {B} was first and {A} was second. | {A} was first at the {place#1}. | {B} helped {A.n}, so nobody won.
{A} got a {adj} {thing}. | "You are fast, {A.n}," said {B.n}. | {B} was [not |]sad. | They [laughed|ate {fruits}|went home together].""",
    "market": """
On {day} {A} went to the market. | {A} wanted to sell {number} {fruits#1}. | {B} sold {fruits#1} at the market.
{B} wanted {number} {fruits#1}. | "How much are the {fruits#1}, {A.n}?" asked {B.n}. | "I need {fruits#1}," said {B.n}.
"{number} coins," said {A.n}. | {B} had only {number} coins. | {B} paid with a {thing#2}, because {B} had no coins.
{A} gave {B.o} the {fruits#1}. | {B} put the {fruits#1} into {B.p} [basket|bag|cart|sack]. | {A} put the coins into {A.p} [bag|box|pocket|hat].
{A} bought {A.food} with the coins. | {B} ate the {fruits#1} on the way home. | So {A} had the coins and {B} had the {fruits#1}.""",
    "rain": """
{A} and {B.n} were in the {place#1} when it began to rain. | Suddenly it began to rain. | The sky was dark over the {place#1}.
{A} had no coat, so {A} was wet. | {B} had an umbrella, but {A} had none. | {A} was wet because {A} had forgotten {A.p} umbrella.
{B} gave {A.n} {B.p} {B.colour} coat. | They stood [under|behind|beside|near] the {tree}. | {A} ran to the {indoor}, and {B} followed {A.o}.
"Are you cold, {A.n}?" asked {B.n}. | {A} was cold. {B} made a fire. | {B} made some hot {food}.
Then the sun came out. | In the evening the rain stopped. | After the rain there were {number} {animals} in the {place#1}.""",
    "ill": """
{A} was sick. | {A} could not go to school because {A} was sick. | {A} hurt {A.p} {body#1}. | {A} lay in bed.
{B} called the doctor. | {B} brought {A.o} some {A.food}. | {B} sat by the bed and read a book to {A.n}. | "Your {body#1} is hot, {A.n}," said {B.n}.
"Drink this," said the doctor. "Sleep, {A.n}." | {A} drank the hot {food} and slept. | {A.p} {A.pet} sat at the end of the bed.
{time} {A} was well again. | After {number} days {A} could get up. | {A} slept for {number} hours. Then {A} was hungry.
"Thank you, {B.n}," {A} said. | {A} ran to the {A.place}. | {A} [ate {A.food}|took {A.p} {A.thing}|fed {A.p} {A.pet}] and was happy.""",
    "garden": """
{A} planted a {tree}. | {A} put seeds into the ground. | {A} and {B.n} dug the ground behind the house.
{B} brought water. | Every day {A} watered it. | {B} watered the garden, because {A} was away.
The sun was shining, and it grew. | It grew and grew. | First it was small. Then it was tall.
Soon there were {fruits#1} in the garden. | {A} {saw} the first flower. | {number} {fruits#1} grew on it.
{A} gave {B.n} {number} {fruits#1}. | {A.p} {A.pet} ate the {fruits#1}! | {A} and {B.n} sat in the garden and ate {fruits#1}.""",
    "secret": """
{A} had a secret. | "I know a secret," said {A.n}. | {A} hid a {adj} {thing#1} {under} the {spot#2}.
{B} wanted to know the secret. | "What is it, {A.n}?" asked {B.n}. | {B} {saw} that {A.n} was hiding something.
"I have a {adj} {thing#1}," said {A.n}. "It is {under} the {spot#2}." | {A} told {B.o} about the {thing#1}. | {A} said nothing.
{B} looked {under} the {spot#2} and found the {thing#1}. | {B} told {B.p} {B.pet} about the {thing#1}. | {B} never told anybody.
"Don't tell my {rel_she}," said {A.n}. | The {thing#1} stayed {under} the {spot#2}. | So the {thing#1} belonged to {A.n} and {B.n}.""",
    "song": """
{A} sang a song: "{thing#1}, {thing#2}, {thing#3}, {adj#1} {thing#4}." | {A} knew a song about a {look} {animal#1}.
{B} wanted to learn the song. | "Sing it again, {A.n}," said {B.n}. | {B} listened to {A.n}.
{A} sang it again: "{thing#1}, {thing#2}, {thing#3}, {adj#1} {thing#4}." | So {A} sang again.
{B} sang: "{thing#1}, {thing#2}, {thing#3}, {adj#1} {thing#4}." | {B} could not remember the words. | {B.p} {B.pet} {B.pet.sound} too.
They sang it until [it was dark|{B} was tired|everybody laughed]. | {A} laughed and {B} laughed too.""",
    "cat": """
The cat sat down [on the {thing#1}|by the fire|next to {A.n}|]. | The cat sat {under} the {spot#1}. | {A.n} had a {adj} cat.
The cat sat down and [purred|washed its paws|looked at {A.n}|slept|closed its eyes|waited for {A.n}]. | The cat was {feeling}. | {A} gave the cat some milk.
Then the dog came in. | A mouse ran along the wall. | {B} opened the door. | A bird sang in the tree.
The cat [jumped up|ran away|did not move|looked at the dog|chased the mouse]. | The dog barked, and the cat {animal#1.act}. | The cat stood up and [ran to {B.n}|left the room].
{A} [laughed|called the cat|took the cat into {A.p} arms]. | The cat sat down again. | "Come here, cat," said {B.n}. The cat [came|did not come].""",
}

CLOSINGS = """
{A} and {B.n} were {feeling}.
{A} was {feeling} and {B} was {feeling} too.
Then they went home.
{A} went home to {A.p} {A.pet}, and {B} went home to {B.p} {B.pet}.
In the evening {A} told {A.p} {rel_she} everything.
"Good night, {A.n}," said {B.n}. "Good night, {B.n}," said {A.n}.
From that day on {A} and {B.n} were friends.
{A} never forgot {B.n}.
And so {A} had a {thing} and {B} had a {thing}.
That was the end of the story of {A.n} and {B.n}.
It was a good day.
{A} slept well that night.
"""

# Texts that stand alone, without a plot.
SINGLES = """
When {A.n} and {B.n} went to the {place}, [{A.n} gave a {thing} to {B.n}|{B.n} gave a {thing} to {A.n}].
Then {A.n} and {B.n} had a lot of [work|fun] in the {place}. [{A.n} wanted to give a {thing} to {B.n}|{B.n} wanted to give a {thing} to {A.n}].
After {A.n} and {B.n} went to the {place}, {B.n} [gave|brought|sold] a {thing} to {A.n}. Then {A} thanked {B.n}.
{A.n} and {B.n} were in the {place}. {A.n} said to {B.n}: "Hello, {B.n}."
The {animal#1} sat down. The {animal#1} sat down and {animal#1.act}.
The {look} {animal#1} sat on the {thing}. It {animal#1.act}, and then it {animal#1.act}.
The {animal#1} did not cross the [street|road|river|bridge|field|square] because it was too [tired|wide]. The {animal#1} was {feeling}.
The animal didn't cross the street because it was too [tired|wide]. It [was a {adj} street|sat down and slept].
The {man} [saw|met|helped] the {woman}. He was {feeling} and she was {feeling}.
The {woman} [saw|met|helped] the {man}. She was {feeling} and he was {feeling}.
The {woman} who lives near the {place} sells {things}. She [is|isn't] {feeling}.
The {man} who lives near the {place} makes {things}. He [is|isn't] {feeling}.
The {animals#1} that live in the {place} are {feeling}. The {animal#1} that lives in the {place} is {feeling}.
I [have|see|want|like] a {adj} {thing}. You [have|see|want|like] a {adj} {thing}. We are {feeling}.
It is {number} o'clock. {A.n} is in the {place} and {B.n} is at home.
Here is a list: {thing#1}, {thing#2}, {thing#3}, {thing#4}. Read it again: {thing#1}, {thing#2}, {thing#3}, {thing#4}.
The {thing} is {adj}, the {thing} is {adj} and the {thing} is {adj}.
The {animal#1} lives in the {animal#1.home}. It eats {animal#1.food}. The {animal#2} lives in the {animal#2.home}.
{A.n} likes {A.food}. {A} has a {A.pet}. {A.p} {A.thing} is in the {A.place}.
{A.n} is a {A.job}. {A.p} {A.pet} is {feeling}. {B.n} is a {B.job}. {B.p} {B.pet} is {feeling}.
{A.n} is in the {A.place} with {A.p} {A.pet}. {B.n} is in the {B.place} with {B.p} {B.pet}. {A} calls {B.n}.
Is {A.n} {feeling}? No, {A} is {feeling}. {B} is {feeling}.
"""
