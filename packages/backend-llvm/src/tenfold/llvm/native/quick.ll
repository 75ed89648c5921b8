; Functions in Python that serve usual calls of another one before its own code does: `quick` says NotImplemented where that has to see.

define internal ptr @quick_call(ptr %quick, ptr %function, ptr %args, i64 %nargsf, ptr %names) {
entry:
  %n = and i64 %nargsf, 9223372036854775807
  %flags = load ptr, ptr @p_flags
  %s0 = call i64 @word(ptr %flags, i64 0)
  %s2 = call i64 @word(ptr %flags, i64 2)
  %s3 = call i64 @word(ptr %flags, i64 3)
  %s02 = or i64 %s0, %s2
  %s = or i64 %s02, %s3
  %usual = icmp eq i64 %s, 0
  %there = icmp ne ptr %quick, null
  %c = and i1 %usual, %there
  br i1 %c, label %call, label %slow
call:
  %result = call ptr @PyObject_Vectorcall(ptr %quick, ptr %args, i64 %n, ptr %names)
  %failed = icmp eq ptr %result, null
  br i1 %failed, label %why, label %answered
why:  ; what is wrong with a call the other has the words for
  %Exception = load ptr, ptr @p_exception
  %wrong = call i32 @PyErr_ExceptionMatches(ptr %Exception)
  %unfit = icmp ne i32 %wrong, 0
  br i1 %unfit, label %clear, label %done
clear:
  call void @PyErr_Clear()
  br label %slow
answered:
  %NotImplemented = load ptr, ptr @g_NotImplemented
  %refused = icmp eq ptr %result, %NotImplemented
  br i1 %refused, label %drop, label %done
drop:
  call void @Py_DecRef(ptr %result)
  br label %slow
done:
  ret ptr %result
slow:
  %usual_way = call ptr @in_python(ptr %function, ptr %args, i64 %nargsf, ptr %names)
  ret ptr %usual_way
}

; The same of a function with words: of a composite only where the CPU has no kernel for it, which 35's dictionary says.
define ptr @quick_path(ptr %words, ptr %function, ptr %args, i64 %nargsf, ptr %names) {
entry:
  %quick = call ptr @pointer(ptr %words, i64 36)
  %others = call ptr @pointer(ptr %words, i64 35)
  %alone = icmp eq ptr %others, null
  br i1 %alone, label %ask, label %look
look:
  %CPU = load ptr, ptr @p_CPU
  %None = load ptr, ptr @g_None
  %other = call ptr @PyDict_GetItemWithError(ptr %others, ptr %CPU)
  %none = icmp eq ptr %other, %None
  br i1 %none, label %ask, label %slow
ask:
  %quickly = tail call ptr @quick_call(ptr %quick, ptr %function, ptr %args, i64 %nargsf, ptr %names)
  ret ptr %quickly
slow:
  %usual_way = tail call ptr @in_python(ptr %function, ptr %args, i64 %nargsf, ptr %names)
  ret ptr %usual_way
}

; Where a native path of a function leaves a call to Python: first to a quick function, if the table has one.
define internal ptr @otherwise(ptr %function, ptr %args, i64 %nargsf, ptr %names) {
entry:
  %words = call ptr @words_of(ptr %function)
  %none = icmp eq ptr %words, null
  br i1 %none, label %slow, label %ask
ask:
  %quickly = tail call ptr @quick_path(ptr %words, ptr %function, ptr %args, i64 %nargsf, ptr %names)
  ret ptr %quickly
slow:
  %usual_way = tail call ptr @in_python(ptr %function, ptr %args, i64 %nargsf, ptr %names)
  ret ptr %usual_way
}
