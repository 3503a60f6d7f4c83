#include "core/analysis/heads/head_filter.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "tests/catch.h"

namespace headscope::test {

using namespace headscope::analysis;

namespace {

struct Spoken {
    explicit Spoken(const char* language) { use_language(language); }
    Spoken(const Spoken&) = delete;
    Spoken& operator=(const Spoken&) = delete;
    ~Spoken() { use_language("en"); }
};

} // namespace

TEST_CASE("heads are found by place, score and label") {
    HeadMetrics metrics;
    metrics.set(HeadScore::first, 0.3F);
    metrics.set(HeadScore::probe_induction, 0.6F);
    metrics.set(HeadScore::induction_text, 0.1F);
    const auto holds = [&](const std::string& text) {
        return HeadFilter::parse(text).holds(5, 3, metrics, HeadScore::probe_induction);
    };
    for (const char* text : {"", "L5H3", " l5 h3 ", "L5", "H3", "induction > 0.4", "induction>=0.6",
                             "probe_induction > .5", "first < 0.4 and L5", "induction", "Induction, H3",
                             "First  Token > 0.2", "induction, probe > 0.4, H3", "L5, induction, probe > 0.4",
                             "L5, induction > 0,4,first<0,4,H3", "induction >= 0,6"}) {
        CAPTURE(text);
        CHECK(holds(text));
    }
    for (const char* text :
         {"L5H2", "L4", "induction > 0.6", "induction_text > 0.4", "first > 0.3", "previous token",
          "L5, first > 0.4", "induction > 0,6", "entropy > 0", "entropy < 100", "Induction, Text > 0.4"}) {
        CAPTURE(text);
        CHECK_FALSE(holds(text));
    }
}

TEST_CASE("heads are found by the names that the list of scores has in another language") {
    HeadMetrics metrics;
    metrics.set(HeadScore::self, 0.3F);
    metrics.set(HeadScore::largest, 0.5F);
    metrics.set(HeadScore::probe_induction, 0.6F);
    metrics.set(HeadScore::induction_text, 0.1F);
    const Spoken german("de");
    for (const char* text : {"Induktion > 0.4", "L5, Induktion > 0,4 und self < 0,4",
                             "induktion, probe > 0.4", "Sich Selbst > 0.2 und L5", "GRÖßTES GEWICHT >= 0.5",
                             "größtes Gewicht < 0.6", "Induktion, H3", "self < 0.4"}) {
        CAPTURE(text);
        CHECK(HeadFilter::parse(text).holds(5, 3, metrics, HeadScore::probe_induction));
    }
    CHECK_FALSE(HeadFilter::parse("Induktion, Text > 0.4").holds(5, 3, metrics, HeadScore::probe_induction));
    CHECK_THROWS_WITH(HeadFilter::parse("Induktor > 0.4"), Catch::Contains("sich selbst"));
}

TEST_CASE("a search that cannot be read names what is wrong") {
    using Catch::Contains;
    CHECK_THROWS_WITH(HeadFilter::parse("L5H3 and induct > 0.4"), Contains("no score \"induct\""));
    CHECK_THROWS_WITH(HeadFilter::parse("induction > 1.2.3"), Contains("\"1.2.3\" is not a number"));
    CHECK_THROWS_WITH(HeadFilter::parse("induction > 1,2,3"), Contains("\"1.2.3\" is not a number"));
    CHECK_THROWS_WITH(HeadFilter::parse("L5,3"), Contains("\"3\" does not name a head"));
    CHECK_THROWS_WITH(HeadFilter::parse("quiet heads"), Contains("\"quiet heads\" does not name a head"));
    CHECK_THROWS_WITH(HeadFilter::parse("L5 H"), Contains("\"l5 h\" does not name a head"));
}

} // namespace headscope::test
