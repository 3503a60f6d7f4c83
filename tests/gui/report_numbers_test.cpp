#include "tests/catch.h"
#include "tests/gui/support/user.h"
#include "tests/test_data.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

// The numbers of a report, against a separate run of the engine.

namespace headscope::test {

using namespace headscope::app;
namespace {

using nlohmann::json;

json settled_report(User& user) {
    user.settle();
    return json::parse(user.program.report(1));
}

/// Returns the matrices of a tensor in a report.
std::vector<json> matrices_of(const json& report, const std::string& tensor) {
    std::vector<json> found;
    for (const json& grid : report.at("grids"))
        if (grid.at("tensor") == tensor)
            found.push_back(grid);
    return found;
}

Index index_in(const json& grid, std::int64_t row, std::int64_t col) {
    Index at = grid.at("origin").get<Index>();
    at[grid.at("row_axis").get<std::size_t>()] += row;
    at[grid.at("col_axis").get<std::size_t>()] += col;
    return at;
}

float number_at(const Tensor& tensor, const Index& at) {
    return tensor.data()[tensor.shape().offset(at)];
}

/// Compares all numbers of a matrix with those that `expected` returns for their indices.
template<class Expected>
void check_numbers(const json& grid, const Expected& expected) {
    REQUIRE(grid.contains("values"));
    const json& values = grid.at("values");
    REQUIRE(std::ssize(values) == grid.at("rows").get<std::ptrdiff_t>());
    double off = 0;
    for (std::size_t row = 0; row < values.size(); ++row) {
        REQUIRE(std::ssize(values[row]) == grid.at("cols").get<std::ptrdiff_t>());
        for (std::size_t col = 0; col < values[row].size(); ++col)
            off = std::max(
                off, std::abs(values[row][col].get<double>() -
                              static_cast<double>(expected(index_in(grid, static_cast<std::int64_t>(row),
                                                                    static_cast<std::int64_t>(col))))));
    }
    CHECK(off < 1e-5);
}

} // namespace

TEST_CASE("a report has the numbers of the matrices on screen, of B, A and B − A", "[gui][control]") {
    User user;
    user.act(GoTo{StageGroup::weights});
    const Trace before = computed(user.problem());
    const Tensor& weights = *before.stage(TensorId::weights);
    const std::vector<json> maps = matrices_of(settled_report(user), "weights");
    REQUIRE(maps.size() >= 2);
    for (const json& map : maps)
        check_numbers(map, [&](const Index& at) { return number_at(weights, at); });

    user.act(MarkBaseline{});
    user.act(EditCell{{TensorId::W_Q, {0, 0, 0, 0}}, 2});
    const Trace after = computed(user.problem());
    const Tensor& changed = *after.stage(TensorId::weights);
    user.act(SetCompare{Compare::difference});
    json report = settled_report(user);
    CHECK(report.at("compare") == "difference");
    for (const json& map : matrices_of(report, "weights"))
        check_numbers(map, [&](const Index& at) { return number_at(changed, at) - number_at(weights, at); });
    user.act(SetCompare{Compare::baseline});
    for (const json& map : matrices_of(settled_report(user), "weights"))
        check_numbers(map, [&](const Index& at) { return number_at(weights, at); });

    // A difference of heads is not a tensor.
    user.act(SetCompare{Compare::now});
    user.act(ShowHeads{HeadsView::difference});
    report = settled_report(user);
    CHECK(
        std::ranges::any_of(report.at("grids"), [](const json& grid) { return grid.at("actual") == false; }));
    for (const json& grid : report.at("grids"))
        CHECK(grid.contains("values") == grid.at("actual").get<bool>());
}

TEST_CASE("a report has the extremes of large matrices instead of their numbers", "[gui][control]") {
    User user("random", words(70));
    user.act(GoTo{StageGroup::weights});
    const Trace trace = computed(user.problem());
    const Tensor& weights = *trace.stage(TensorId::weights);
    const std::vector<json> maps = matrices_of(settled_report(user), "weights");
    REQUIRE(!maps.empty());
    for (const json& map : maps) {
        CHECK_FALSE(map.contains("values"));
        float low = std::numeric_limits<float>::infinity(), high = -low;
        for (std::int64_t row = 0; row < 70; ++row)
            for (std::int64_t col = 0; col < 70; ++col) {
                low = std::min(low, number_at(weights, index_in(map, row, col)));
                high = std::max(high, number_at(weights, index_in(map, row, col)));
            }
        CHECK(map.at("min").get<double>() == Approx(static_cast<double>(low)).epsilon(1e-4));
        CHECK(map.at("max").get<double>() == Approx(static_cast<double>(high)).epsilon(1e-4));
        const json& at = map.at("max_at");
        CHECK(number_at(weights, index_in(map, at[0], at[1])) == Approx(high).epsilon(1e-4));
    }
}

TEST_CASE("a report has the table of a screen, as it is saved", "[gui][control]") {
    User user;
    user.open(test_data("/models/llama_tiny_tied"), "12,7,30,5");
    CHECK_FALSE(settled_report(user).contains("table"));
    user.act(ShowScreen{Screen::effects});
    const json table = settled_report(user).at("table");
    const auto& parts = user.shown().effects->attribution.parts;
    REQUIRE(table.at("rows").get<std::size_t>() == parts.size() + 1);
    for (std::size_t n = 0; n < parts.size(); ++n) {
        CHECK(table.at("values")[n][0] == parts[n].writer.name());
        CHECK(table.at("values")[n][1].get<double>() == Approx(parts[n].value).margin(1e-6));
    }
}

TEST_CASE("a report has no numbers while the window is not settled", "[gui][control]") {
    User user;
    user.act(GoTo{StageGroup::weights});
    REQUIRE(settled_report(user).contains("inspector"));
    user.program.act(SetSentence{"The old cat sat down"});
    const json report = json::parse(user.program.report(1));
    CHECK(report.at("settled") == false);
    CHECK_FALSE(report.contains("inspector"));
    for (const json& grid : report.at("grids"))
        CHECK_FALSE(grid.contains("values"));
}

} // namespace headscope::test
