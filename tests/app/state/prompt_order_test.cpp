#include "app/state/prompts/prompt_list.h"
#include "tests/catch.h"

#include <limits>
#include <memory>

// The order of a list of prompts, and steps through it.

namespace headscope::test {

using namespace headscope::app;

TEST_CASE("a difference that is not a number is last in the order, and steps stay in the list", "[prompts]") {
    auto list = std::make_shared<PromptList>();
    list->prompts.resize(4);
    PromptListState state;
    state.list = list;
    state.order = PromptOrder::difference;
    state.differences = {std::numeric_limits<double>::quiet_NaN(), 1.0, std::nullopt, -1.0};
    sort_rows(state);
    CHECK(state.rows == std::vector<std::size_t>{3, 1, 0, 2});
    state.open = 1;
    CHECK(stepped_prompt(state, 1) == 0U);
    CHECK(stepped_prompt(state, -1) == 3U);
    CHECK_FALSE(stepped_prompt(state, -2));
}

} // namespace headscope::test
