#pragma once

#include "app/shell/program.h"
#include "tests/gui/support/driver.h"
#include "tests/gui/support/screen.h"

#include <optional>
#include <string>

namespace headscope::test {

using namespace headscope::app;

/// The whole program with somebody in front of it.
struct Desk {
    explicit Desk(const std::string& preset = "first-lesson", const std::string& sentence = "",
                  float width = 1600, float height = 1000, float scale = 1,
                  const std::string& state_folder = "");
    explicit Desk(const Program::Options& options, float width = 1600, float height = 1000);

    /// Until the newest document is computed and drawn, and nothing slides.
    void settle();
    /// Does it without the mouse, then settles.
    void act(const Action& action);
    /// Selects all of the sentence field and types over it, then Enter; settles.
    void type_sentence(const std::string& sentence);
    /// The same with the second field, which is there with cross-attention.
    void type_kv_sentence(const std::string& sentence);
    /// The same with any field.
    void type_over(const std::string& field, const std::string& text);
    /// Clicks the first reachable item with that label in a window whose name holds `window`. Says whether it
    /// was there.
    bool click(const std::string& label, const std::string& window = "");

    /// Opens a file or a checkpoint folder, with `text` for its prompt and `decoder_text` for what a decoder
    /// reads, as if given on the command line; until it is computed and drawn.
    void open(const std::string& path, const std::string& text = "",
              const std::optional<std::string>& decoder_text = {});
    /// Clicks what `label` names, until what was switched is computed and drawn. Fails the test when it is
    /// not there.
    void press(const std::string& label);

    void press_key(int key, int modifiers = 0); ///< settles

    /// Opens a drop-down of the toolbar and takes the row with that label.
    void choose(const std::string& caption, const std::string& row);

    const ViewState& view() const { return program.state().view; }
    const Shown& shown() const { return program.state().shown; }
    const Problem& problem() const { return program.state().document->problem; }

    Program program;
    Driver driver;
};

/// Everything that a click can change, as text: the view without what slides or hovers, the document, popups.
std::string signature(const Program& program);
std::string signature(const ViewState& view);

/// A trace of the problem made with no part of the program but the engine.
Trace computed(const Problem& problem);

/// Compares every number printed in a cell of the picture with the tensors of `trace` and `problem`, to the
/// digits that are printed. Fails the test where they differ; returns how many it compared.
int check_printed_numbers(const Picture& picture, const Trace& trace, const Problem& problem);

/// The middle of a cell of the canvas, in logical pixels of the window. Fails the test where the cell is not
/// there.
figure::Point middle_of(const Picture& canvas, const CellAddress& cell);

/// `count` different words.
std::string words(int count);

} // namespace headscope::test
