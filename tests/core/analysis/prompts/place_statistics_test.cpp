#include "core/analysis/prompts/place_statistics.h"
#include "tests/catch.h"

#include <nlohmann/json.hpp>
#include <vector>

using headscope::analysis::mean_of_results;
using headscope::analysis::spread_of_results;
using Json = nlohmann::ordered_json;

namespace {

std::vector<Json> results(std::initializer_list<const char*> texts) {
    std::vector<Json> all;
    for (const char* text : texts)
        all.push_back(Json::parse(text));
    return all;
}

} // namespace

TEST_CASE("numbers of equal place have a mean and a standard deviation", "[prompts]") {
    const auto all = results({R"({"logit": 1.0, "rows": [[1.0, 2.0], [3.0, 4.0]]})",
                              R"({"logit": 3.0, "rows": [[3.0, 2.0], [5.0, 4.5]]})",
                              R"({"logit": 8.0, "rows": [[2.0, 2.0], [1.0, 3.5]]})"});
    CHECK(mean_of_results(all) == Json::parse(R"({"logit": 4.0, "rows": [[2.0, 2.0], [3.0, 4.0]]})"));
    const Json spread = spread_of_results(all);
    // Squared distances 9, 1 and 16 from the mean.
    CHECK(spread["logit"].get<double>() == Approx(std::sqrt(26.0 / 3.0)));
    CHECK(spread["rows"][0][0].get<double>() == Approx(std::sqrt(2.0 / 3.0)));
    CHECK(spread["rows"][0][1] == 0.0);
}

TEST_CASE("the statistics of a place are the mean, the standard deviation and the count", "[prompts]") {
    const std::vector<double> numbers{1, 3, 8}; // squared distances 9, 1 and 16
    const auto statistics = headscope::analysis::statistics_of(numbers);
    CHECK(statistics.mean == 4.0);
    CHECK(statistics.spread == Approx(std::sqrt(26.0 / 3.0)));
    CHECK(statistics.count == 3);
    CHECK(headscope::analysis::statistics_of({}).count == 0);
}

TEST_CASE("names stay where all results share them, and other things are left out", "[prompts]") {
    const auto all =
        results({R"({"position": 3, "token": {"id": 5, "probability": 0.5}, "sources": [0.5],
                                 "writers": [{"name": "L0H0", "value": 1.0}], "score": null, "what": "q",
                                 "top": [{"name": "L0H0", "value": 1.0}], "line": 1})",
                 R"({"position": 3, "token": {"id": 6, "probability": 0.7}, "sources": [0.5, 0.1],
                                 "writers": [{"name": "L0H0", "value": 2.0}], "score": 0.25, "what": "q",
                                 "top": [{"name": "L1H0", "value": 1.0}], "line": 2})"});
    CHECK(mean_of_results(all) == Json::parse(R"({"position": 3, "writers": [{"name": "L0H0", "value": 1.5}],
                                                  "score": 0.25, "what": "q"})"));
    CHECK(spread_of_results(all) ==
          Json::parse(R"({"position": 3, "writers": [{"name": "L0H0", "value": 0.5}],
                                                    "score": 0.0, "what": "q"})"));
}

TEST_CASE("results without anything in common have no mean", "[prompts]") {
    CHECK(mean_of_results(results({R"([1.0])", R"([1.0, 2.0])"})).is_null());
    CHECK(mean_of_results(results({R"([1.0])", R"({"a": 2.0})"})).is_null());
    CHECK(mean_of_results(results({R"([])", R"([])"})) == Json::array());
    CHECK(mean_of_results(results({R"([])", R"([1.0])"})).is_null());
}
