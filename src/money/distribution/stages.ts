import { declareStage } from './declare.ts'
import { payStage } from './pay.ts'
import { reinvestStage } from './reinvest.ts'
import { reverseDeclare, reverseDrpAllotment, reversePayment } from './take-back.ts'

/** Every stage by its name, as a job finds it again. */
export const stages = {
  Declare: declareStage,
  Payment: payStage,
  DrpAllotment: reinvestStage,
  ReverseDeclare: reverseDeclare,
  ReversePayment: reversePayment,
  ReverseDrpAllotment: reverseDrpAllotment,
}
