#!/usr/bin/env python3
"""Writes tests/data/plural_cases.json: the Plural-Forms header of some languages and the form that CPython chooses.

usage: make_plural_cases.py OUT.json
"small" holds the index of the form for n = 0, 1, ... 200, a digit each; "large" holds pairs of n and index. "malformed"
lists rules that CPython refuses.
"""
import gettext
import json
import sys

LANGUAGES = {
    "ar": (6, "n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 ? 4 : 5"),
    "cs": (3, "(n==1) ? 0 : (n>=2 && n<=4) ? 1 : 2"),
    "cy": (4, "(n==1) ? 0 : (n==2) ? 1 : (n != 8 && n != 11) ? 2 : 3"),
    "de": (2, "(n != 1)"),
    "fr": (2, "n > 1"),
    "ga": (5, "n==1 ? 0 : n==2 ? 1 : n<7 ? 2 : n<11 ? 3 : 4"),
    "gd": (4, "(n==1 || n==11) ? 0 : (n==2 || n==12) ? 1 : (n > 2 && n < 20) ? 2 : 3"),
    "is": (2, "(n%10!=1 || n%100==11)"),
    "ja": (1, "0"),
    "lt": (3, "(n%10==1 && n%100!=11 ? 0 : n%10>=2 && (n%100<10 || n%100>=20) ? 1 : 2)"),
    "lv": (3, "(n%10==1 && n%100!=11 ? 0 : n != 0 ? 1 : 2)"),
    "mk": (2, "n==1 || n%10==1 ? 0 : 1"),
    "mt": (4, "(n==1 ? 0 : n==0 || ( n%100>1 && n%100<11) ? 1 : (n%100>10 && n%100<20 ) ? 2 : 3)"),
    "pl": (3, "(n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2)"),
    "ro": (3, "(n==1 ? 0 : (n==0 || (n%100 > 0 && n%100 < 20)) ? 1 : 2)"),
    "ru": (3, "(n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2)"),
    "sl": (4, "(n%100==1 ? 0 : n%100==2 ? 1 : n%100==3 || n%100==4 ? 2 : 3)"),
    # Rules that use every operator, and associativity.
    "difference": (9, "(20 - 7 - n % 3 * 2) / 2"),
    "products": (9, "n * 7 / 2 % 9"),
    "negated": (2, "(!(n > 3)) + (!!n) == 1"),
    "chained": (2, "1 < n < 2 != n >= 5"),
    "nested": (5, "n < 5 ? n < 2 ? n : 2 : n < 9 ? 3 : 4"),
    "blanks": (2, "  n\t!=  1 "),
    "and before or": (2, "n == 1 || n == 2 && n == 3"),
    "sum before comparison": (2, "n + 1 > 4 - 1"),
}
LARGE = [201, 999, 1000, 1001, 1002, 1011, 1012, 1021, 1022, 1100, 1101, 1102, 1105, 1111, 1112, 99999, 100000, 100001,
         1000000, 1000001, 1000002, 123456789, 2147483647, 2147483648, 4294967295, 4294967296, 999999999999, 1000000000021]
MALFORMED = ["", "n !", "n = 1", "n ==", "== n", "(n", "n)", "()", "n n", "n 1", "x", "nn", "n ? 1", "n ? : 1", "n : 1",
             "n ? 1 :", "n & 1", "n | 1", "n && ", "|| n", "n ** 2", "n ! = 1", "-1", "n, 1", "1.5", "n < = 1", "0x1", "n // 2",
             "n.real", "f(n)", "\"n\"", "n ? 1 : 2 : 3"]


def main():
    languages = {}
    for name, (forms, rule) in LANGUAGES.items():
        form = gettext.c2py(rule)
        large = [[n, int(form(n))] for n in LARGE]
        small = [int(form(n)) for n in range(201)]
        assert all(0 <= index < forms for index in small + [index for _, index in large]), name
        languages[name] = {"header": f"nplurals={forms}; plural={rule};", "small": "".join(map(str, small)), "large": large}
    for rule in MALFORMED:
        try:
            gettext.c2py(rule)
        except ValueError:
            continue
        raise SystemExit(f"CPython takes {rule!r}")
    rows = ",\n".join(f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in languages.items())
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        out.write(f'{{"languages": {{\n{rows}\n}},\n"malformed": {json.dumps(MALFORMED)}}}\n')


if __name__ == "__main__":
    main()
