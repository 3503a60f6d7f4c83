#include "core/trace/stage.h"
#include "tests/catch.h"

#include <set>

using namespace headscope;

namespace {
constexpr Dims dims{.B = 2, .Tq = 3, .Tk = 5, .D = 8, .Dkv = 6, .H = 4, .Hkv = 2, .dk = 3, .dv = 2};
constexpr ProblemParts relative_parts{.relative_terms = true, .c2p = true, .p2c = true, .both_terms = true};

void check_spans(const TensorInfo& info, const Dims& sizes, const ProblemParts& parts) {
    const Shape shape = info.shape(sizes);
    Index last{};
    for (int axis = 0; axis < shape.rank(); ++axis)
        last[static_cast<std::size_t>(axis)] = shape[axis] - 1;
    for (const Index& at : {Index{}, last})
        for (const ReadSpan& span : cells_read(info.id, sizes, at, parts)) {
            const Shape source = tensor_info(span.source).shape(sizes);
            INFO(info.name << " reads " << tensor_info(span.source).name);
            for (int axis = 0; axis < source.rank(); ++axis) {
                const auto begin = span.first[static_cast<std::size_t>(axis)];
                CHECK(begin >= 0);
                CHECK(begin + (axis == span.axis ? span.count : 1) <= source[axis]);
            }
        }
}
} // namespace

TEST_CASE("the stage table lists every tensor once, in the order of its ids") {
    std::set<std::string_view> names;
    for (int id = 0; id < tensor_count; ++id) {
        const TensorInfo& info = tensor_info(static_cast<TensorId>(id));
        CHECK(static_cast<int>(info.id) == id);
        CHECK(names.insert(info.name).second);
        int found = 0;
        for (const auto by_name :
             {find_tensor(info.name), find_block_stage(info.name), find_block_weight(info.name)})
            found += by_name == info.id ? 1 : 0;
        CHECK(found == 1);
        CHECK(find_block_weight(info.name).has_value() == is_block_weight(info.id));
        CHECK(find_stage(info.name).has_value() == is_stage(info.id));
    }
    CHECK_FALSE(find_tensor("nonsense").has_value());
}

TEST_CASE("a stage's inputs come before it or belong to the user") {
    for (const TensorInfo& info : stage_table())
        for (const TensorId input : info.reads()) {
            INFO(info.name << " reads " << tensor_info(input).name);
            CHECK((!is_stage(input) || input < info.id));
        }
}

TEST_CASE("six stages have a number for each query and key of each head") {
    std::vector<std::string_view> found;
    for (const TensorInfo& row : stage_table())
        if (is_score(row.id))
            found.push_back(row.name);
    CHECK(found == std::vector<std::string_view>{"c2p", "p2c", "scores", "scaled", "masked", "weights"});
    CHECK_FALSE(is_score(TensorId::mask));
}

TEST_CASE("every span of the index map lies inside the tensor that it reads") {
    for (const TensorInfo& info : stage_table())
        if (info.when == nullptr || !(relative_parts.*info.when))
            check_spans(info, dims, {.cross = true});
}

TEST_CASE("every span of terms by relative position lies inside the tensor that it reads") {
    for (const RelativeRows rows : {RelativeRows{.span = 2}, RelativeRows{.span = 9}}) {
        const Dims sizes{.B = 2,
                         .Tq = 5,
                         .Tk = 5,
                         .D = 8,
                         .Dkv = 8,
                         .H = 4,
                         .Hkv = 4,
                         .dk = 3,
                         .dv = 2,
                         .distances = rows.count()};
        ProblemParts parts = relative_parts;
        for (const bool own : {false, true}) {
            parts.relative = rows;
            parts.own_pos_keys = parts.own_pos_queries = own;
            for (const TensorInfo& info : stage_table())
                check_spans(info, sizes, parts);
        }
    }
}

TEST_CASE("the index map of a term pairs a query with the row of its distance") {
    const Dims sizes{
        .B = 2, .Tq = 5, .Tk = 5, .D = 8, .Dkv = 8, .H = 4, .Hkv = 4, .dk = 3, .dv = 2, .distances = 6};
    ProblemParts parts = relative_parts;
    parts.relative = {.span = 3};
    const auto c2p = cells_read(TensorId::c2p, sizes, {1, 3, 2, 4}, parts);
    REQUIRE(c2p.size() == 2);
    CHECK(c2p[0].first == Index{1, 3, 2, 0});
    CHECK(c2p[1].first == Index{1, 9, 0, 0}); // 3 + (2 − 4)
    const auto p2c = cells_read(TensorId::p2c, sizes, {1, 3, 4, 1}, parts);
    CHECK(p2c[0].first == Index{1, 3, 1, 0});
    CHECK(p2c[1].first == Index{5, 9, 0, 0}); // 3 + (4 − 1), at most 5
    CHECK(cells_read(TensorId::scores, sizes, {1, 3, 2, 4}, parts).size() == 4);
}

TEST_CASE("the index map pairs the factors of a product and follows grouped heads") {
    const auto scores = cells_read(TensorId::scores, dims, {1, 3, 2, 4}, {});
    REQUIRE(scores.size() == 2);
    CHECK(scores[0].first == Index{1, 3, 2, 0});
    CHECK(scores[1].first == Index{1, 1, 4, 0});
    CHECK(scores[0].count == scores[1].count);
    const auto concat = cells_read(TensorId::concat, dims, {0, 2, 5, 0}, {});
    CHECK(concat[0].first == Index{0, 2, 2, 1});
}

// The expected texts are written down from the paper's equation 1 and from the docs of masks and soft caps.
TEST_CASE("the formula of a stage says what this problem computes") {
    const auto scaled = [](ProblemParts parts) { return formula_of(TensorId::scaled, parts); };
    CHECK(scaled({}) == "scaled = scores ÷ √dk");
    CHECK(scaled({.tempered = true}) == "scaled = scores ÷ (√dk · temperature)");
    CHECK(scaled({.soft_cap = true}) == "scaled = c · tanh(scores ÷ √dk ÷ c)");
    CHECK(scaled({.soft_cap = true, .tempered = true}) ==
          "scaled = c · tanh(scores ÷ (√dk · temperature) ÷ c)");
    const auto masked = [](ProblemParts parts) { return formula_of(TensorId::masked, parts); };
    CHECK(masked({}) == "masked = scaled where allowed, else −∞");
    CHECK(masked({.all_allowed = true}) == "masked = scaled");
    CHECK(masked({.added_mask = true}) == "masked = scaled + mask");
}
