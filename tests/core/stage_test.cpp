#include "core/trace/stage.h"
#include "tests/catch.h"

#include <set>

using namespace headscope;

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

TEST_CASE("six stages have a number for each query and key of each head") {
    std::vector<std::string_view> found;
    for (const TensorInfo& row : stage_table())
        if (is_score(row.id))
            found.push_back(row.name);
    CHECK(found == std::vector<std::string_view>{"c2p", "p2c", "scores", "scaled", "masked", "weights"});
    CHECK_FALSE(is_score(TensorId::mask));
}
