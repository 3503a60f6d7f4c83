# Runs at build time. Writes OUTPUT, a source file that embeds the bytes of every file of NAMES below FOLDER, and of COMPILED
# below COMPILED_FOLDER. The assembler includes the files directly, so that a model of several megabytes does not slow down
# the compiler.
cmake_policy(SET CMP0057 NEW) # if(IN_LIST)
set(bytes "")
set(declarations "")
set(rows "")
set(index 0)
foreach(name IN LISTS NAMES COMPILED)
  set(below ${FOLDER})
  if(name IN_LIST COMPILED)
    set(below ${COMPILED_FOLDER})
  endif()
  set(label headscope_asset_${index})
  string(APPEND bytes ".globl ${label}, ${label}_end\\n.hidden ${label}, ${label}_end\\n.balign 16\\n${label}:\\n.incbin \\\"${below}/${name}\\\"\\n${label}_end:\\n")
  string(APPEND declarations "extern const char asset_${index}[] asm(\"${label}\"), end_${index}[] asm(\"${label}_end\");\n")
  string(APPEND rows "        {\"${name}\", {asset_${index}, end_${index}}},\n")
  math(EXPR index "${index} + 1")
endforeach()
file(WRITE ${OUTPUT} "#include \"core/base/assets.h\"
asm(\".section .rodata\\n${bytes}.byte 0\\n.previous\\n\");
namespace headscope::detail {
extern \"C\" {
${declarations}}
std::span<const EmbeddedAsset> embedded_assets() {
    static const EmbeddedAsset rows[] = {
${rows}    };
    return rows;
}
}
")
