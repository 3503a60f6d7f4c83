#include "tests/core/graph/stage_formula.h"

namespace headscope::test {

namespace {

std::string without(std::string text, const std::string& part) {
    if (const std::size_t at = text.find(part); at != std::string::npos)
        text.erase(at, part.size());
    return text;
}

} // namespace

std::string stage_formula(const TensorInfo& info, const Problem& problem) {
    std::string formula = formula_of(info.id, problem.parts());
    if (info.operation != Operation::projection && info.operation != Operation::output_projection &&
        info.operation != Operation::relative_projection)
        return formula;
    if (problem.has_source() && info.id != TensorId::q && info.operation == Operation::projection)
        formula.replace(formula.find("X"), 1, "X_kv");
    const TensorId bias = info.inputs[2];
    if (problem.input(bias) == nullptr)
        formula = without(formula, " + " + std::string(tensor_info(bias).name));
    return formula;
}

} // namespace headscope::test
