#include "core/base/error.h"
#include "core/base/message.h"
#include "core/engine/vulkan/kernels.h"
#include "core/engine/vulkan/unsigned.h"

#include <algorithm>
#include <array>

namespace headscope::vulkan {

namespace {

/// The push constants of every kernel that computes rows of heads, in this order.
struct RowsPush {
    std::uint32_t rows;             ///< of all heads of the dispatch
    std::uint32_t T, width, stride; ///< rows of one head, numbers of a row, and the stored width of a row
    std::uint32_t y_at, table_at[2], fault;
    float number;         ///< a parameter of the problem
    std::uint32_t joined; ///< number of heads whose rows of a token one invocation computes together
};

/// The kernel of an operation. Bindings: the rows; two tables with a number for each column, or for each
/// position and column; and the faults.
struct Step {
    graph::Op op;
    std::string_view shader;
    bool pairs; ///< an invocation for each pair of numbers; else one for each row
    bool joins; ///< an invocation for the rows of all heads of a token
};
constexpr std::array steps{
    Step{graph::Op::head_norm, "norm_rows", false, false},
    Step{graph::Op::joint_norm, "norm_rows", false, true},
    Step{graph::Op::rotate, "rotate", true, false},
};
constexpr std::uint32_t threads = 64;

} // namespace

void Kernels::make_head_rows(const HeadRows& rows, Slot slot) {
    const auto step = std::ranges::find(steps, rows.op, &Step::op);
    if (step == steps.end())
        return;
    const std::int64_t T = rows.T, stride = padded(rows.width);
    const std::int64_t invocations = T * (step->pairs ? rows.width / 2 : 1);
    for (std::int64_t b = 0; b < rows.B; ++b)
        for (std::int64_t h = 0; h < rows.heads;) {
            // Takes as many heads as fit in one binding and in one row of workgroups.
            std::int64_t count = rows.heads - h;
            const auto dispatched = [&] { return step->joins ? T : count * invocations; };
            while (count > 1 && (!arena_.fits(u64(count * T * stride) * sizeof(float)) ||
                                 groups_of(u64(dispatched()), threads) > gpu_.info().groups[0]))
                count /= 2;
            if (step->joins && count < rows.heads)
                throw Error(ErrorKind::machine, tr("head_rows.one_text_larger_read",
                                                   "the {} of one text are larger than {} can read at once; "
                                                   "let the CPU do it (--device cpu)",
                                                   rows.name, gpu_.info().name));
            RowsPush push{.rows = u32(step->joins ? T : count * T),
                          .T = u32(T),
                          .width = u32(rows.width),
                          .stride = u32(stride),
                          .y_at = 0,
                          .table_at = {},
                          .fault = static_cast<std::uint32_t>(Fault::head_rows) + rows.fault,
                          .number = rows.eps,
                          .joined = u32(step->joins ? rows.heads : 1)};
            std::uint32_t none = 0;
            std::vector<GpuBinding> bindings{arena_.window(slot, u64((b * rows.heads + h) * T * stride),
                                                           u64(count * T * stride), sizeof(float),
                                                           push.y_at)};
            for (const std::size_t n : {0U, 1U}) {
                const HeadRows::Table& table = rows.tables[n];
                const std::int64_t entry = table.entries > 1 ? b : 0;
                bindings.push_back(arena_.window(table.slot, u64(entry * table.cells), u64(table.cells),
                                                 sizeof(float), push.table_at[n]));
            }
            bindings.push_back(arena_.window(Slot::faults, 0, fault_count, sizeof(float), none));
            gpu_.dispatch(kernel(step->shader, 4, {threads}), bindings, bytes_of(push),
                          {groups_of(u64(dispatched()), threads), 1, 1});
            h += count;
        }
}

} // namespace headscope::vulkan
