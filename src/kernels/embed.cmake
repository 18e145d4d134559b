# cmake -DOUT=FILE.c -DTEXTS=A.s;B.s -P embed.cmake: texts as a table of bytes in C, for job_program.c.
set(arrays "")
set(rows "")
foreach(text ${TEXTS})
  get_filename_component(name ${text} NAME)
  string(MAKE_C_IDENTIFIER ${name} id)
  file(READ ${text} bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes
    "${bytes}")
  string(APPEND arrays "static const char ${id}[] = {\n${bytes}};\n\n")
  string(APPEND rows "    {\"${name}\", ${id}, sizeof ${id}},\n")
endforeach()
file(WRITE ${OUT} "#include \"kernels/job_text.h\"\n\n${arrays}const struct tw_job_text tw_job_texts[] = {\n${rows}};\n"
  "const size_t tw_job_text_count = sizeof tw_job_texts / sizeof tw_job_texts[0];\n")
