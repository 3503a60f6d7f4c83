#include "core/text/bilingual.h"

#include "core/base/assets.h"
#include "core/base/error.h"
#include "core/text/preset.h"
#include "tests/catch.h"
#include "tests/core/text/weights_by_definition.h"

#include <algorithm>
#include <numeric>
#include <set>

using namespace headscope;
using namespace headscope::text;
using headscope::testing::weights_of;

namespace {

double product(const Meaning& a, const Meaning& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

std::string refused_list(std::string_view list) {
    try {
        listed_meanings(list, "cat");
    } catch (const Error& error) {
        CHECK(error.kind() == ErrorKind::input);
        return error.what();
    }
    return "";
}

/// The word of the second sentence that each word of the first reads most, in one head, and with how much.
std::vector<std::pair<std::string, double>> read_by(const Problem& problem, std::int64_t h) {
    std::vector<std::pair<std::string, double>> out;
    for (const auto& row : weights_of(problem, h)) {
        const auto best = std::ranges::max_element(row);
        out.emplace_back(problem.key_label(best - row.begin()), *best);
    }
    return out;
}

} // namespace

TEST_CASE("words of both languages are listed, also behind an apostrophe", "[text]") {
    for (const char* const word : {"cat", "Le", "chat", "l'eau", "froide"})
        CHECK(has_listed_meaning(word));
    for (const char* const word : {"Xylophon", "l'xylophon", ""})
        CHECK_FALSE(has_listed_meaning(word));
}

TEST_CASE("meanings are 120 vectors of the E8 lattice, no two of them close and none opposite") {
    std::set<Meaning> different;
    for (std::int64_t a = 0; a < most_meanings; ++a) {
        const Meaning u = meaning_vector(a);
        different.insert(u);
        REQUIRE(product(u, u) == 2);
        // Whole or half numbers throughout, with an even sum: that is the lattice.
        const double sum = std::accumulate(u.begin(), u.end(), 0.0);
        CHECK(sum / 2 == std::floor(sum / 2));
        for (std::int64_t b = 0; b < a; ++b) {
            const double uv = product(u, meaning_vector(b));
            REQUIRE((uv == 0 || uv == 1 || uv == -1));
            if (a / 8 == b / 8)
                REQUIRE(uv == 0);
        }
    }
    CHECK(different.size() == 120);
}

TEST_CASE("words of both languages share their meaning, and unlisted ones have one of their own") {
    CHECK(meaning_of("Cat") == meaning_of("chat"));
    CHECK(meaning_of("cats") == meaning_of("CHATTE"));
    CHECK(meaning_of("l'") == meaning_of("the"));
    CHECK(product(meaning_of("l'eau"), meaning_of("water")) == Approx(std::sqrt(2.0)));
    CHECK(meaning_of("L\xE2\x80\x99"
                     "eau") == meaning_of("l'eau"));
    CHECK(product(meaning_of("assis"), meaning_of("sat")) == Approx(std::sqrt(2.0)));
    CHECK(product(meaning_of("assis"), meaning_of("down")) == Approx(std::sqrt(2.0)));
    CHECK(meaning_of("Headscope") == meaning_of("headscope"));
    for (const char* word : {"Headscope", "Marie", "l'inconnu", "blorf", "'"}) {
        CAPTURE(word);
        CHECK(product(meaning_of(word), meaning_of(word)) == 2);
        for (std::int64_t n = 0; n < most_meanings; ++n)
            CHECK(product(meaning_of(word), meaning_vector(n)) < 1.5);
    }
}

TEST_CASE("a damaged word list is refused with its line") {
    CHECK(listed_meanings("# about\ndog\tchien\ncat cats\tchat\ncat\tfouet\n", "chat") ==
          std::vector<std::int64_t>{1});
    CHECK(listed_meanings("dog\tchien\ncat cats\tchat\ncat\tfouet\n", "cat") ==
          std::vector<std::int64_t>{1, 2});
    CHECK(listed_meanings("dog\tchien\n", "cat").empty());
    CHECK_THAT(refused_list("dog\tchien\ncat chat\n"),
               Catch::Contains("line 2") && Catch::Contains("0 tabs"));
    CHECK_THAT(refused_list("dog\tchien\n \t \n"), Catch::Contains("line 2") && Catch::Contains("no word"));
    std::string long_list;
    for (int i = 0; i < 121; ++i)
        long_list += "a\tb\n";
    CHECK_THAT(refused_list(long_list), Catch::Contains("line 121") && Catch::Contains("120"));
}

TEST_CASE("translation: every word finds its counterpart, wherever it stands") {
    const struct {
        const char *english, *french;
        std::vector<std::string> expected; ///< empty: no counterpart
    } all[] = {
        {"The cat sat down", "Le chat s'est assis", {"Le", "chat", "assis", "assis"}},
        {"The cat drinks cold water",
         "Le chat boit de l'eau froide",
         {"Le", "chat", "boit", "froide", "l'eau"}},
        {"I see the black dog", "Je vois le chien noir", {"Je", "vois", "le", "noir", "chien"}},
        {"She gives her old friend the red book",
         "Elle donne le livre rouge à son vieux ami",
         {"Elle", "donne", "son", "vieux", "ami", "le", "rouge", "livre"}},
        {"Marie likes Lyon", "Lyon aime Marie", {"Marie", "aime", "Lyon"}},
        {"The white house by the river",
         "La maison blanche près du fleuve",
         {"La", "blanche", "maison", "près", "La", "fleuve"}},
    };
    for (const auto& one : all) {
        INFO(one.english << " / " << one.french);
        const Problem problem = build_preset("translation", one.english, 1, one.french).problem;
        const auto found = read_by(problem, 0);
        REQUIRE(found.size() == one.expected.size());
        for (std::size_t i = 0; i < found.size(); ++i) {
            INFO(problem.tokens[i]);
            CHECK(found[i].first == one.expected[i]);
            CHECK(found[i].second > 0.75);
        }
    }
}

TEST_CASE("translation: head 1 reads the same place at every position of every length") {
    for (const std::int64_t T : {1, 2, 3, 7, 16, 32, 64}) {
        std::string words, mots;
        for (std::int64_t t = 0; t < T; ++t) {
            words += "the ";
            mots += "chat ";
        }
        INFO("T = " << T);
        const auto weights =
            weights_of(build_preset("translation", words, 1, mots + (T < 64 ? "noir" : "")).problem, 1);
        for (std::size_t i = 0; i < weights.size(); ++i)
            CHECK(weights[i][i] > 0.75);
    }
}

TEST_CASE("every preset that takes a second sentence embeds it as it embeds its first") {
    for (const PresetInfo& info : presets()) {
        INFO(info.id);
        if (info.kv_sentence.empty()) {
            CHECK_THROWS_AS(build_preset(info.id, info.sentence, 1, "A second one"), Error);
            continue;
        }
        const PresetProblem alone = build_preset(info.id, info.kv_sentence, 3),
                            self = build_preset(info.id, info.sentence, 3),
                            cross = build_preset(info.id, info.sentence, 3, info.kv_sentence);
        const Problem& problem = cross.problem;
        validate(problem);
        CHECK(problem.cross());
        CHECK(problem.tokens == self.problem.tokens);
        CHECK(problem.kv_tokens == alone.problem.tokens);
        CHECK(problem.dims.Tk == alone.problem.dims.Tq);
        CHECK(std::ranges::equal(problem.x->values(), self.problem.x->values()));
        CHECK(std::ranges::equal(problem.x_kv->values(), alone.problem.x->values()));
        CHECK(std::ranges::equal(problem.weights.W_K->values(), self.problem.weights.W_K->values()));
        CHECK(cross.head_roles == self.head_roles);
    }
    const auto refused = [](std::string_view id, std::string_view kv) -> std::string {
        try {
            build_preset(id, "The cat", 1, kv);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    CHECK_THAT(refused("random", " "), Catch::Contains("has no word"));
    std::string many;
    for (int i = 0; i < 65; ++i)
        many += "word ";
    CHECK_THAT(refused("translation", many), Catch::Contains("65") && Catch::Contains("64"));
}
