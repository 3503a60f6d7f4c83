#include "core/checkpoint/files/toy_tensor.h"

#include "core/base/error.h"
#include "core/base/message.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <sstream>

namespace headscope::checkpoint {

namespace {

using nlohmann::json;

std::string with_layer(std::string text, std::int64_t layer) {
    constexpr std::string_view mark = "{l}";
    for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark))
        text.replace(at, mark.size(), std::to_string(layer));
    return text;
}

/// "D H*dk" is {{"D"}, {"H", "dk"}}.
std::vector<std::vector<std::string>> parse_axes(const std::string& text) {
    std::vector<std::vector<std::string>> axes;
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        std::vector<std::string>& joint = axes.emplace_back();
        std::istringstream parts(word);
        for (std::string part; std::getline(parts, part, '*');)
            joint.push_back(part);
    }
    return axes;
}

std::vector<std::string> flat(const std::vector<std::vector<std::string>>& axes) {
    std::vector<std::string> all;
    for (const std::vector<std::string>& joint : axes)
        all.insert(all.end(), joint.begin(), joint.end());
    return all;
}

} // namespace

ToyName::ToyName(const json& named, std::int64_t layer, const std::string& source) {
    const auto refuse = [&] {
        constexpr std::size_t longest = 80;
        fail_input(
            tr("toy_tensor.not_a_name",
               "{}: {} should be the name of a tensor, or an object such as {{\"tensor\": \"W\", \"axes\": "
               "\"H D dk\", \"rows\": [0, 64]}}",
               source, named.dump(-1, ' ', false, json::error_handler_t::replace).substr(0, longest)));
    };
    if (named.is_string()) {
        tensor = with_layer(named.get<std::string>(), layer);
        return;
    }
    if (!named.is_object() || !named.contains("tensor") || !named["tensor"].is_string())
        refuse();
    tensor = with_layer(named["tensor"].get<std::string>(), layer);
    for (const auto& [key, value] : named.items()) {
        if (key == "axes" && value.is_string())
            axes = value.get<std::string>();
        else if (key == "rows" && value.is_array() && value.size() == 2 && value[0].is_number_unsigned() &&
                 value[1].is_number_unsigned())
            rows.emplace(value[0].get<std::int64_t>(), value[1].get<std::int64_t>());
        else if (key != "tensor")
            refuse();
    }
}

void ToyName::check_rows(std::vector<std::int64_t>& extents, const std::string& source) const {
    if (extents.empty() || rows->first < 0 || rows->first >= rows->second || rows->second > extents[0])
        fail_input(
            tr("toy_tensor.rows",
               "{}: the rows {} to {} are not in {}, whose shape is {}; the second number is the first "
               "row after them",
               source, rows->first, rows->second, tensor, extents_text(extents)));
    extents[0] = rows->second - rows->first;
}

void ToyAxes::set_heads(std::optional<std::int64_t> H, std::optional<std::int64_t> K) {
    if (H)
        sizes_["H"] = *H;
    if (K)
        sizes_["K"] = *K;
    own_key_heads_ = K.has_value();
}

std::optional<std::int64_t> ToyAxes::find(const std::string& axis) const {
    const auto found = sizes_.find(axis);
    if (found != sizes_.end())
        return found->second;
    return axis == "K" ? find("H") : std::nullopt;
}

void ToyAxes::learn(const std::string& axis, std::int64_t extent, const std::string& where) {
    const std::optional<std::int64_t> known = axis == "K" && !own_key_heads_ ? std::nullopt : find(axis);
    if (axis == "one" ? extent != 1 : known && *known != extent)
        fail_input(tr("toy_tensor.size_differs", "{} has {} along {}; the other tensors have {}", where,
                      extent, axis, axis == "one" ? 1 : *known));
    if (extent < 1)
        fail_input(
            tr("toy_tensor.size_empty", "{} has 0 numbers along {}; it should have some", where, axis));
    if (axis != "one")
        sizes_[axis] = extent;
    own_key_heads_ = own_key_heads_ || axis == "K";
}

ToyPermutation ToyAxes::match(const std::string& from, const std::string& to,
                              const std::vector<std::int64_t>& extents, const std::string& where) {
    auto axes = parse_axes(from);
    // Key and value heads may be called heads.
    if (to.find('K') != std::string::npos && from.find('K') == std::string::npos)
        for (std::vector<std::string>& joint : axes)
            std::ranges::replace(joint, "H", "K");
    std::vector<std::string> own = flat(axes), wanted = flat(parse_axes(to));
    std::vector<std::string> a = own, b = wanted;
    std::erase(a, "one");
    std::ranges::sort(a);
    std::ranges::sort(b);
    if (a != b || axes.size() != extents.size())
        fail_input(
            tr("toy_tensor.axes_do_not_fit",
               "{} has {} axes, spelled \"{}\"; they should be {} in some order, those joined by * in one",
               where, extents.size(), from, to));
    ToyPermutation permutation;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        // A joined axis is split by the heads, which are known.
        if (axes[i].size() == 2) {
            const std::optional<std::int64_t> heads = find(axes[i][0]);
            if (axes[i][0] == "dk" || !heads || extents[i] % *heads != 0)
                fail_input(
                    tr("toy_tensor.heads_needed",
                       "{} has {} along {}*{}, which the number of heads has to divide; give it as \"heads\"",
                       where, extents[i], axes[i][0], axes[i][1]));
            learn(axes[i][0], *heads, where);
            learn(axes[i][1], extents[i] / *heads, where);
            permutation.split.insert(permutation.split.end(), {*heads, extents[i] / *heads});
        } else {
            learn(axes[i].front(), extents[i], where);
            permutation.split.push_back(extents[i]);
        }
    }
    for (const std::string& axis : wanted)
        permutation.order.push_back(static_cast<std::size_t>(std::ranges::find(own, axis) - own.begin()));
    for (const std::vector<std::string>& joint : parse_axes(to)) {
        std::int64_t extent = 1;
        for (const std::string& axis : joint)
            extent *= permutation.split[static_cast<std::size_t>(std::ranges::find(own, axis) - own.begin())];
        permutation.result.push_back(extent);
    }
    return permutation;
}

TensorPtr ToyPermutation::apply(const Tensor& tensor,
                                const std::optional<std::pair<std::int64_t, std::int64_t>>& rows) const {
    std::vector<std::int64_t> strides(split.size(), 1);
    for (std::size_t i = split.size() - 1; i > 0; --i)
        strides[i - 1] = strides[i] * split[i];
    const std::int64_t row = tensor.shape()[0] == 0 ? 0 : tensor.count() / tensor.shape()[0];
    const float* const from = tensor.data() + (rows ? rows->first * row : 0);
    auto out = std::make_shared<Tensor>(result.size() == 1 ? Shape{result[0]} : Shape{result[0], result[1]});
    std::vector<std::int64_t> at(order.size(), 0);
    for (float& number : out->values()) {
        std::int64_t place = 0;
        for (std::size_t i = 0; i < order.size(); ++i)
            place += at[i] * strides[order[i]];
        number = from[place];
        for (std::size_t i = order.size(); i-- > 0 && ++at[i] == split[order[i]];)
            at[i] = 0;
    }
    return out;
}

} // namespace headscope::checkpoint
