# Copies OBJECT to OUTPUT; there what it defines but for templates and inline functions, which other objects may have too, is
# private.
execute_process(COMMAND ${NM} --defined-only --extern-only --format=posix ${OBJECT} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+ [TDBRGS] [^\n]*" symbols "${symbols}")
list(TRANSFORM symbols REPLACE " .*" "")
list(JOIN symbols "\n" names)
file(WRITE ${OUTPUT}.symbols "${names}\n")
execute_process(COMMAND ${OBJCOPY} --localize-symbols=${OUTPUT}.symbols ${OBJECT} ${OUTPUT} COMMAND_ERROR_IS_FATAL ANY)
