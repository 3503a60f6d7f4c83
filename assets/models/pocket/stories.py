#!/usr/bin/env python3
"""Writes the simple English stories that pocket is trained on.

    python3 stories.py --count 5 --seed 1

prints stories. Every choice comes from the seed. plots.py contains the sentences, words.py the words."""

import argparse
import random
import re

import plots
import words

LISTS = words.lists()
PEOPLE = words.people()
ANIMALS = words.animals()
PRONOUNS = {"she": {"s": "she", "o": "her", "p": "her", "r": "herself"},
            "he": {"s": "he", "o": "him", "p": "his", "r": "himself"}}
TRUE_FACT = 0.9       # frequency with which a belonging of a person is the usual one
ANIMAL_FACT = 0.96    # frequency with which an animal acts like its kind
FACT_SHARE = 0.35     # frequency of extra sentences about a belonging of a person
SAME_GENDER = 0.12    # stories about two people of one gender, in which pronouns are rare
ALTERNATIVES = re.compile(r"\[([^\[\]]*)\]")
SLOT = re.compile(r"\{([^{}]*)\}")


def split_outside_brackets(line):
    """The alternatives of a line that '|' separates, but not inside [..]."""
    parts, depth, part = [], 0, ""
    for character in line:
        depth += (character == "[") - (character == "]")
        if character == "|" and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += character
    return parts + [part.strip()]


def lines_of(text):
    return [line.strip() for line in text.strip().splitlines() if line.strip()]


OPENINGS, FILLERS = lines_of(plots.OPENINGS), lines_of(plots.FILLERS)
CLOSINGS, SINGLES = lines_of(plots.CLOSINGS), lines_of(plots.SINGLES)
FACTS = [line for line in FILLERS if "{A.p} {A." in line or line.startswith("{A} {A.act}")]
STAGES = {name: [(line.startswith("?"), split_outside_brackets(line.lstrip("? "))) for line in lines_of(text)]
          for name, text in plots.PLOTS.items()}


def tidy(text):
    """Capitals at the start of sentences and quotes, a or an, one blank between words."""
    text = re.sub(r" +", " ", text).strip()
    text = re.sub(r" ([.,!?])", r"\1", text)
    text = re.sub(r"\b([Aa]) (?=[aeiouAEIOU]|honest)", r"\1n ", text)
    upper = lambda match: match.group(1) + match.group(2).upper()
    text = re.sub(r'^("?)([a-z])', upper, text)
    text = re.sub(r'([.!?:] "?|\." |, ")([a-z])', lambda m: m.group(0) if m.group(1) == ": " else upper(m), text)
    return text


class Story:
    """One story while it is written: its two people, what was mentioned, and the words that numbered slots hold."""

    def __init__(self, rng, fact_share=0.0):
        self.rng, self.fact_share = rng, fact_share
        first, second = rng.sample(PEOPLE, 2)
        while (first["gender"] == second["gender"]) != (rng.random() < SAME_GENDER):
            first, second = rng.sample(PEOPLE, 2)
        self.people = {"A": first, "B": second}
        self.introduced, self.here, self.last, self.kept = set(), set(), None, {}

    def pronouns_are_clear(self, person):
        """Returns true if a pronoun can only mean this person."""
        other = [p for p in self.people.values() if p is not person][0]
        return person["name"] in self.introduced and (person["gender"] != other["gender"] or self.last == person["name"])

    def mention(self, person, form):
        """The person as a subject (s), object (o), possessive (p), reflexive (r) or always by name (n)."""
        name = person["name"]
        chance = 0.0
        if form == "r":
            chance = 1.0
        elif form != "n" and self.pronouns_are_clear(person):
            chance = (0.92 if form != "o" else 0.8) if name in self.here else 0.55
        said = PRONOUNS[person["gender"]][form] if self.rng.random() < chance else name + ("'s" if form == "p" else "")
        self.introduced.add(name)
        self.here.add(name)
        self.last = name
        return said

    def fact(self, person, key):
        """Returns a belonging of the person, or sometimes another one of its kind."""
        if key == "act":
            acts = words.ACTS[person["job"] if self.rng.random() < TRUE_FACT else self.rng.choice(PEOPLE)["job"]]
            return self.rng.choice(acts)
        if self.rng.random() < TRUE_FACT:
            return person[key]
        return self.kept.setdefault((person["name"], key), self.rng.choice(PEOPLE)[key])

    def animal_fact(self, animal, key):
        facts = ANIMALS[animal]
        if self.rng.random() > ANIMAL_FACT:
            facts = ANIMALS[self.rng.choice(list(ANIMALS))]
        return self.rng.choice(facts["acts"]) if key == "act" else facts[key]

    def word(self, base):
        """A word of a list: 'thing' a new one, 'thing#1' the same one in the whole story, 'things#1' its plural."""
        name, _, number = base.partition("#")
        many = name not in LISTS and name.endswith("s")
        kind = name[:-1] if many else name
        if number:
            key = (kind, number)
            if key not in self.kept:
                used = [word for (other, _), word in self.kept.items() if other == kind]
                self.kept[key] = self.rng.choice([word for word in LISTS[kind] if word not in used])
            chosen = self.kept[key]
        else:
            chosen = self.rng.choice(LISTS[kind])
        return words.plural(chosen) if many else chosen

    def slot(self, text):
        base, *path = text.split(".")
        if base not in self.people:
            value = self.word(base)
            return self.animal_fact(value, path[0]) if path else value
        person = self.people[base]
        if not path or path[0] in ("s", "o", "p", "r", "n"):
            return self.mention(person, path[0] if path else "s")
        if len(path) == 2:
            return self.animal_fact(person[path[0]], path[1])
        return self.fact(person, path[0])

    def sentence(self, template, swap=False):
        """One filled template; with swap, A and B change places in it."""
        self.here = set()
        if swap:
            template = re.sub(r"\{([AB])", lambda m: "{" + ("B" if m.group(1) == "A" else "A"), template)
        while (found := ALTERNATIVES.search(template)):
            template = template[:found.start()] + self.rng.choice(found.group(1).split("|")) + template[found.end():]
        return tidy(SLOT.sub(lambda match: self.slot(match.group(1)), template))

    def filler(self):
        facts = self.fact_share and self.rng.random() < self.fact_share
        return self.sentence(self.rng.choice(FACTS if facts else FILLERS), self.rng.random() < 0.5)

    def plot(self):
        """An opening, the stages of a plot with other sentences between them, and sometimes a closing."""
        said = [self.sentence(self.rng.choice(OPENINGS))]
        if self.rng.random() < 0.5:
            said.append(self.filler())
        swap = self.rng.random() < 0.5
        for optional, choices in STAGES[self.rng.choice(list(STAGES))]:
            if optional and self.rng.random() < 0.5:
                continue
            said.append(self.sentence(self.rng.choice(choices), swap))
            if self.rng.random() < 0.35:
                said.append(self.filler())
        if self.rng.random() < 0.4:
            said.append(self.sentence(self.rng.choice(CLOSINGS), self.rng.random() < 0.5))
        return " ".join(said)

    def free(self):
        """An opening and sentences in any order."""
        said = [self.sentence(self.rng.choice(OPENINGS))] if self.rng.random() < 0.8 else []
        return " ".join(said + [self.filler() for _ in range(self.rng.randint(2, 8))])

    def single(self):
        said = self.sentence(self.rng.choice(SINGLES), self.rng.random() < 0.5)
        return said if self.rng.random() < 0.5 else said + " " + self.filler()


def story(rng, two_genders=False, fact_share=FACT_SHARE):
    """A story as (text, people): text one paragraph, people the two dicts of words.people() it may name."""
    while True:
        told = Story(rng, fact_share)
        if two_genders and told.people["A"]["gender"] == told.people["B"]["gender"]:
            continue
        kind = rng.random()
        text = told.plot() if kind < 0.5 else told.free() if kind < 0.85 else told.single()
        if two_genders and (kind >= 0.85 or len(told.introduced) < 2):
            continue
        return text, list(told.people.values())


AGAIN = ["{name} said it again:", "{name} read it again:", "Once more:", "Again:", "Then {name} read the list:", "{name} said:",
         "{name} wrote the same words:", "Say it again:", "The list again:", "{name} sang it again:"]


def said_twice(rng):
    """A list of unrelated words, or a sentence of a story, that is read two or three times."""
    pool = [word for kind in ("thing", "food", "fruit", "place", "animal", "adj", "feeling", "colour", "number") for word in LISTS[kind]]
    pool += [person["name"] for person in PEOPLE]
    if rng.random() < 0.65:
        separator = rng.choice([", ", " ", ", ", " and "])
        text = separator.join(rng.choice(pool) for _ in range(rng.randint(4, 30)))
    else:
        text = Story(rng).filler()
    frame = rng.choice(AGAIN).format(name=rng.choice(PEOPLE)["name"])
    if rng.random() < 0.3:
        text = '"' + text + '"'
    end = "" if text[-1] in '."!?' else "."
    first = rng.choice(["{} read the list: ", "{} said: ", "The list was: ", "", ""]).format(rng.choice(PEOPLE)["name"])
    parts = [first + text + end, frame + " " + text + end]
    if rng.random() < 0.3:
        parts.append(rng.choice(AGAIN).format(name=rng.choice(PEOPLE)["name"]) + " " + text + end)
    return " ".join(parts)


def main():
    parser = argparse.ArgumentParser(description="Prints stories of the kind that pocket is trained on.")
    parser.add_argument("--count", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    for _ in range(arguments.count):
        print(story(rng)[0], end="\n\n")


if __name__ == "__main__":
    main()
