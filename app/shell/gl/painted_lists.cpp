#include "app/shell/gl/painted_lists.h"

#include <algorithm>
#include <span>

namespace headscope::app {
namespace {

/// Returns the draw lists: an array before ImGui 1.89.8, a vector since.
std::span<ImDrawList* const> draw_lists(const ImDrawData& lists) {
    if (lists.CmdListsCount == 0)
        return {};
    return {&lists.CmdLists[0], static_cast<std::size_t>(lists.CmdListsCount)};
}

/// Calls take() with each part of the draw data until it returns false. Returns true if it never did.
template<class Take>
bool visit_pieces(const ImDrawData& lists, ImU32 background, const Take& take) {
    const auto bytes = [](const auto* first, int count) {
        return std::as_bytes(std::span(first, static_cast<std::size_t>(count)));
    };
    if (!take(bytes(&background, 1)) || !take(bytes(&lists.DisplaySize, 1)) ||
        !take(bytes(&lists.CmdListsCount, 1)))
        return false;
    return std::ranges::all_of(draw_lists(lists), [&](const ImDrawList* list) {
        return take(bytes(list->CmdBuffer.Data, list->CmdBuffer.Size)) &&
               take(bytes(list->IdxBuffer.Data, list->IdxBuffer.Size)) &&
               take(bytes(list->VtxBuffer.Data, list->VtxBuffer.Size));
    });
}

} // namespace

bool PaintedLists::shows(const ImDrawData& lists, ImU32 background) const {
    std::span<const std::byte> rest = bytes_;
    const auto same = [&rest](std::span<const std::byte> piece) {
        if (rest.size() < piece.size() || !std::ranges::equal(piece, rest.first(piece.size())))
            return false;
        rest = rest.subspan(piece.size());
        return true;
    };
    return visit_pieces(lists, background, same) && rest.empty();
}

void PaintedLists::keep(const ImDrawData& lists, ImU32 background) {
    bytes_.clear();
    visit_pieces(lists, background, [this](std::span<const std::byte> piece) {
        bytes_.insert(bytes_.end(), piece.begin(), piece.end());
        return true;
    });
}

} // namespace headscope::app
