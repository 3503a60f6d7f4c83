#include "core/analysis/read_set.h"
#include "tests/core/analysis/made_set.h"

#include "tests/catch.h"
#include <rapidcheck/catch.h>

#include <cmath>

using namespace headscope;
using namespace headscope::analysis;
using headscope::test::MadeSet;

namespace {

using List = std::vector<std::string>;

/// Rows of a softmax over some of the keys, and rows of zeros.
std::shared_ptr<MadeSet> some_set(const List& tokens) {
    const auto T = static_cast<std::int64_t>(tokens.size());
    const std::int64_t L = *rc::gen::inRange<std::int64_t>(1, 4), H = *rc::gen::inRange<std::int64_t>(1, 4);
    const auto numbers = *rc::gen::container<std::vector<int>>(static_cast<std::size_t>(L * H * T * T),
                                                               rc::gen::inRange(-3, 9));
    const auto raw = [&](std::int64_t l, std::int64_t h, std::int64_t i, std::int64_t j) {
        return std::max(0, numbers[static_cast<std::size_t>(((l * H + h) * T + i) * T + j)]);
    };
    return std::make_shared<MadeSet>(
        L, H, T, std::vector<List>{tokens},
        [&](std::int64_t l, std::int64_t h, std::int64_t i, std::int64_t j) {
            int sum = 0;
            for (std::int64_t key = 0; key < T; ++key)
                sum += raw(l, h, i, key);
            return sum == 0 ? 0.0F : static_cast<float>(raw(l, h, i, j)) / static_cast<float>(sum);
        });
}

List some_tokens() {
    List tokens = *rc::gen::container<List>(
        rc::gen::elementOf(List{"Ġa", "b", "Ġc", "d", ".", "<s>", "[SEP]", "Ċ", "Ġ", "'s"}));
    tokens.insert(tokens.begin(), "Ġfirst"); // something is always left
    tokens.resize(std::min<std::size_t>(tokens.size(), 8));
    return tokens;
}

ReadingOptions some_options() {
    return {*rc::gen::arbitrary<bool>(), *rc::gen::arbitrary<bool>(), *rc::gen::arbitrary<bool>(),
            *rc::gen::arbitrary<bool>()};
}

} // namespace

TEST_CASE("rows of weights that are read otherwise sum to 1 or are empty") {
    rc::prop("every row of every head and mean", [] {
        const auto held = some_set(some_tokens());
        const auto set = with_reading(held, some_options());
        const AttentionInfo& info = set->info();
        for (std::int64_t l = 0; l < info.L; ++l) {
            const TensorPtr layer = set->layer(l);
            for (std::int64_t h = 0; h < info.H; ++h)
                for (std::int64_t i = 0; i < info.Tq; ++i) {
                    double sum = 0;
                    for (std::int64_t j = 0; j < info.Tk; ++j) {
                        RC_ASSERT(layer->at(0, h, i, j) >= 0.0F);
                        sum += static_cast<double>(layer->at(0, h, i, j));
                    }
                    RC_ASSERT(sum == 0.0 || std::abs(sum - 1) < 1e-5);
                }
        }
    });
    rc::prop("a layer and its heads one by one are the same numbers", [] {
        const auto set = with_reading(some_set(some_tokens()), some_options());
        const AttentionInfo& info = set->info();
        std::vector<float> head(static_cast<std::size_t>(info.Tq * info.Tk));
        for (std::int64_t l = 0; l < info.L; ++l) {
            const TensorPtr layer = set->layer(l);
            for (std::int64_t h = 0; h < info.H; ++h) {
                set->read_head(l, h, head);
                RC_ASSERT(std::equal(head.begin(), head.end(), layer->data() + layer->offset(0, h, 0, 0)));
            }
        }
    });
    rc::prop("merging words of one piece each is the identity", [] {
        const auto count = *rc::gen::inRange<std::size_t>(1, 8);
        const List marked(count, "Ġword");
        const auto held = some_set(marked);
        // Through the decorator itself, which with_reading would leave out.
        const ReadSet read(held, {.merge_words = true});
        for (std::int64_t l = 0; l < held->info().L; ++l)
            RC_ASSERT(std::ranges::equal(read.layer(l)->values(), held->layer(l)->values()));
        RC_ASSERT(read.query_tokens(0) == marked);
    });
    rc::prop("there are as many places as words", [] {
        const auto held = some_set(some_tokens());
        const ReadSet read(held, {.merge_words = true});
        RC_ASSERT(read.info().Tq ==
                  static_cast<std::int64_t>(text::group_pieces_into_words(held->query_pieces(0)).size()));
        RC_ASSERT(read.info().Tk <= held->info().Tk);
    });
}
